fn main() {
    foo(1, 2);
    let s = "foo(3)";
    foo( 4 );
}
