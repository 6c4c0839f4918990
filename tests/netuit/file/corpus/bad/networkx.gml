graph [
  node [
    id 0
    label "a"
  ]
  node [
    id 1
    label "b"
  ]
  node [
    id 2
    label "c"
  ]
  edge [
    source 0
    target 1
    weight 2
  ]
  edge [
    source 1
    target 2
    weight 0.5
  ]
]
