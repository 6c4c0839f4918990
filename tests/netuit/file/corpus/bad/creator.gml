Creator "a program"
Version 1
graph
[
  node [ id 1 ]
]
