fn main() {
    bar(1, 2);
    let s = "foo(3)";
    bar(4);
}
