// The test is that it links.
int main() {}
