//! What is on a page and not to be seen.

use super::check;

#[test]
fn what_a_person_does_not_see() {
    for element in
        ["script", "style", "template", "noscript", "svg", "iframe", "noembed", "noframes", "object"]
    {
        check(&format!("a <{element}>x <p>y</p></{element}> b"), "a b");
    }
    check("a<!-- x -->b", "ab");
    check("a<!-- x", "a");
    check("a<script>x", "a");
    check("a<script>'</p>'<!--</script>b", "ab");
    for attribute in [
        "hidden",
        "HIDDEN=''",
        "hidden=until-found",
        "style='display:none'",
        "style='color:red; DISPLAY : None !important'",
        "style=visibility:hidden;",
        "style='font-size: 0px'",
        "style='opacity:0'",
        "style='opacity:0.0'",
        "style='opacity:.0'",
        "style='opacity:0%'",
        "style='opacity:-1'",
        "style='opacity:0e1'",
        "style='opacity: calc(0)'",
        "style='font-size:0em'",
        "style='font-size:0.0rem'",
        "style='font-size:1px'",
        "style='font:0/0 a'",
        "style='font: italic 0px serif'",
        "style='position:absolute;left:-9999px'",
        "style='text-indent:-999px'",
        "style='top:-999em'",
        "style='margin-left: -5000px'",
        "style='position:absolute;right:-100vw'",
        "style='position:absolute;left:9999px'",
        "style='height:0;overflow:hidden'",
        "style='overflow:hidden;max-height:0px'",
        "style='width:1px;height:1px;overflow:hidden'",
        "style='clip:rect(0,0,0,0)'",
        "style='clip: rect(1px 1px 1px 1px)'",
        "style='clip-path:inset(100%)'",
        "style='clip-path: inset( 50% )'",
        "style='clip-path:circle(0)'",
        "style='transform:scale(0)'",
        "style='transform: rotate(3deg) scale(0, 0)'",
        "style='transform:translateX(-9999px)'",
        "style='scale:0'",
        "style='filter:opacity(0)'",
        "style='color:transparent'",
        "style='color: rgba(0, 0, 0, 0)'",
        "style='color:rgb(0 0 0 / 0%)'",
        "style='color:#0000'",
        "style='color:#ffffff00'",
        "style='display:/**/none'",
        "style='/* ; */display:none/* x'",
        "style='display/**/:no\\6e e'",
        "style='d\\69splay:none'",
        "style='\\00064isplay:n\\one'",
        "style='background:url(/*);display:none/**/'",
        "style='content:\"/*\";display:none'",
        "style='x:a\\\"/*\";*/;display:none'",
        "popover",
        "popover=manual",
    ] {
        check(&format!("a <div {attribute}>x<div>y</div>z</div> b"), "a\nb");
        check(&format!("a <span {attribute}>x</span> b"), "a b");
        check(&format!("<body {attribute}>a</body>"), "a");
    }
    for attribute in [
        "class=hidden",
        "title=hidden",
        "data-hidden",
        "style='display:block'",
        "style='opacity:0.5'",
        "style='opacity:5%'",
        "style='font-size:0.9em'",
        "style='font:bold 12px/0 serif'",
        "style='left:-998px'",
        "style='left:-99em'",
        "style='margin:0 auto'",
        "style='height:0'",
        "style='overflow:hidden;height:10px'",
        "style='clip:rect(0,auto,auto,0)'",
        "style='clip:rect(0,9px,9px,0)'",
        "style='clip-path:inset(10%)'",
        "style='transform:scale(0.5)'",
        "style='color:#fff0f0'",
        "style='color:rgba(0,0,0,1)'",
        "style='color:rgb(0,0,0)'",
        "style='/*display:none*/'",
        "style='content:\";display:none\"'",
        "style='x:url(;display:none)'",
        "open",
    ] {
        check(&format!("a <span {attribute}>x</span> b"), "a x b");
    }
    check("<input hidden>a<br hidden>b", "ab");
}

#[test]
fn what_opens_or_stands_in_for_something() {
    check("a<dialog>x</dialog>b", "a\nb");
    check("a<dialog open>x</dialog>b", "a\nx\nb");
    check("a<dialog open popover>x</dialog>b", "a\nx\nb");
    check("a<dialog open hidden>x</dialog>b", "a\nb");
    check("<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>c", "abc");
    check("<ruby>a<rp>(<rt>b<rp>)</ruby>c", "abc");
    check("a <progress>x</progress> <meter>y</meter> b", "a b");
    check("<math><mi>a</mi><annotation encoding=x>y</annotation></math>b", "ab");
    check("<math><annotation/><annotation-xml><b>x</b></annotation-xml></math>b", "b");
    for size in ["width=0", "height='0'", "width=00", "height=0px", "width=' 0%'"] {
        check(&format!("a <img {size} alt=x> b"), "a b");
    }
    check("<img width=10 height=1 alt=x>", "x");
    check("<p width=0>x", "x");
}

#[test]
fn details_show_their_summary() {
    check("a<details><summary>s <b>t</b></summary>x<p>y</p></details>b", "a\n\ns t\nb");
    check("a<details open><summary>s</summary>x</details>b", "a\n\ns\nx\n\nb");
    check("a<details>x</details>b", "a\n\nb");
    check("<details><summary><a href=/y>s</a></summary>x</details>b", "s (/y)\nb");
    check("<details><summary>s</summary><details><summary>x</summary>x</details>x</details>b", "s\nb");
    check("<details><summary>s</summary><summary>x</summary></details>b", "s\nb");
    check("<details><summary>s</details>b", "s\nb");
    check("<details open><details><summary>s</summary>x</details>a</details>b", "s\na\n\nb");
    // Not where a browser would not show it.
    check("<details><div hidden><summary>x</summary></div></details>b", "b");
    check("<details><summary hidden>x</summary>x</details>b", "b");
    check("<details><summary>s<i hidden></summary></i>x</details>b", "s\nb");
    check("<details><summary>s<details open></summary>x</details>x</details>b", "s\n\nb");
    check("<details><summary>s<details open><summary>t</details></summary>x</details>b", "s\n\nt\nb");
    check("<details><summary>s<details><summary>x</summary></details></summary>x</details>b", "s\n\nb");
}

/// End tags that HTML lets a page leave out.
#[test]
fn where_a_hidden_element_ends() {
    check("<p hidden>x<p>a", "a");
    check("<p hidden>x<b>y</b><div>a</div>", "a");
    check("<div><p hidden>x</div>a", "a");
    check("<ul><li hidden>x<li>a</ul>", "- a");
    check("<ul><li hidden>x<ul><li>y</ul>z<li>a</ul>", "- a");
    check("<ul><li hidden>x</ul>a", "a");
    check("<dl><dt hidden>x<dd>a</dl>", "a");
    check("<table><tr hidden><td>x<tr><td>a</table>", "a");
    check("<table><tr><td hidden>x<td>a</table>", "a");
    check("<table><tr><td hidden><table><tr><td>x</table>y<td>a</table>", "a");
    // LIMIT: a browser ends this div with its section; we would rather lose text than show what is hidden.
    check("<section><div hidden>x</section>a", "");
    check("<div hidden>x</p></span></div>a", "a");
    // LIMIT: a browser ignores this end tag.
    check("<div hidden><table><tr><td></div>a", "a");
}
