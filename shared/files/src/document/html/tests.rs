use super::*;

fn extract(html: &str) -> Document {
    super::extract(html).unwrap()
}

/// The title, and each section's headings and lines.
fn read(html: &str) -> (Option<String>, Vec<(String, String)>) {
    let document = extract(html);
    let lines = |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("|");
    let sections = document.sections.iter().map(|section| (section.headings.join(" > "), lines(&section.text)));
    let sections = sections.filter(|(path, text)| !path.is_empty() || !text.is_empty());
    (document.title.clone(), sections.collect())
}

/// The lines of a page without headings.
fn lines(html: &str) -> String {
    read(html).1.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn page_has_title_headings_and_lines() {
    let html = "<!doctype html><html><head><title> Tea &amp;\n leaves</title><style>p{}</style></head><body>\
        <nav><a>Home</a></nav><h1 class='a>b'>Tea</h1><p>One\n  two<br>three</p><ul><li>a<li>b</ul>\
        <h2>Green <em>tea</em></h2><pre>x\n  y</pre><script>if (a < b) { '</p>' }</script><p>4 &lt; 5 < 6</p>";
    let expected = [("Tea", "One two|three|- a|- b"), ("Tea > Green tea", "x|y|4 < 5 < 6")];
    let (title, sections) = read(html);
    let sections: Vec<(&str, &str)> = sections.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!((title.as_deref(), sections), (Some("Tea & leaves"), expected.to_vec()));
}

#[test]
fn only_the_article_of_a_page_is_kept() {
    let html = "<body><header>Shop</header><main>x<article><h1>A</h1>text</article></main><footer>c</footer>";
    assert_eq!(read(html), (Some("A".to_owned()), vec![("A".to_owned(), "text".to_owned())]));
}

#[test]
fn main_content_is_found_among_others() {
    let text = "A long enough text about tea.";
    for (html, expected) in [
        (format!("<div role=navigation>n</div><div role=main>{text}</div>x"), text),
        (format!("<main>{text}<article>ad</article></main>x"), &*format!("{text}|ad")),
        (format!("<main><article>{text}</article><article>b</article></main>x"), &*format!("{text}|b")),
        (format!("<article>{text}<article>comment</article></article>x"), &*format!("{text}|comment")),
        (format!("<form action=x><p>{text}<input><select><option>o</select></form>"), text),
        (format!("<div hidden>h</div><div aria-hidden=true>h</div><dialog>d</dialog>{text}"), text),
        (format!("<main>{text}"), text),
    ] {
        assert_eq!(lines(&html), expected, "{html}");
    }
}

#[test]
fn title_is_that_of_the_page() {
    let svg = "<svg><title>Logo</title></svg>";
    assert_eq!(read(&format!("{svg}<h1>Tea</h1>a")).0.as_deref(), Some("Tea"));
    assert_eq!(read(&format!("<title>Page</title>{svg}<h1>Tea</h1>a")).0.as_deref(), Some("Page"));
    assert_eq!(read("<p>a").0, None);
}

#[test]
fn rows_of_tables_are_lines() {
    let html = "<table><caption>Prices</caption><tr><th>City<th>Price<tr><td><p>Paris</p><td>150<br>euros</table>after";
    assert_eq!(lines(html), "Prices|City | Price|Paris | 150 euros|after");
    let layout = "<table><tr><td>left<td><h2>Tea</h2><p>one<p>two</table>";
    assert_eq!(read(layout).1, [(String::new(), "left".to_owned()), ("Tea".to_owned(), "one|two".to_owned())]);
    let nested = "<table><tr><td>a<table><tr><td>b<td>c</table>d</table>";
    assert_eq!(lines(nested), "a|b | c|d");
}

#[test]
fn list_items_have_their_numbers() {
    let html = "<ol start=3><li>a<li><p>b<p>c<ul><li>d</ul></ol><dl><dt>e<dd>f</dl><ul><li></ul>";
    assert_eq!(lines(html), "3. a|4. b|c|- d|e|f");
}

#[test]
fn code_keeps_its_lines_and_indents() {
    let document = extract("<p>Run <code>a  b</code>:</p><pre><code>if x:\n    <b>y</b>()\n\nz</code></pre>end");
    assert_eq!(document.sections[0].text, "Run a b:\nif x:\n    y()\n\nz\nend\n");
}

#[test]
fn headings_lose_their_anchors() {
    for (heading, expected) in [
        ("Install<a href='#i'>¶</a>", "Install"),
        ("Install <a href='#i'>#</a>", "Install"),
        ("C#", "C#"),
        ("<div>Two</div><div>lines</div>", "Two lines"),
    ] {
        assert_eq!(read(&format!("<h2>{heading}</h2>a")).1[0].0, expected);
    }
}

#[test]
fn characters_are_those_of_a_browser() {
    assert_eq!(lines("caf&eacute; &#x8336; &hearts; a&nbsp;b &unknown; 5&euro;&copy"), "café 茶 ♥ a b &unknown; 5€©");
    assert_eq!(lines("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字</ruby>"), "漢字");
    assert_eq!(lines("<p>a<b>b</b>c<wbr>d <span> e</span>"), "abcd e");
}

#[test]
fn broken_markup_is_read_to_its_end() {
    for html in ["<", "<p", "<p class=\"", "</", "<!--", "a<!-- b", "<script>x", "<h1>t", "<title>", "茶<茶"] {
        let _read = extract(html);
    }
    assert_eq!(lines("a<!-- <p>b --> c"), "a c");
    assert_eq!(read("<h1>t").0.as_deref(), Some("t"));
    assert_eq!(lines("<p>a<p>b<li>c</div>d"), "a|b|- cd");
    assert_eq!(lines("<table><p>a<tr><td>b"), "a|b");
}

#[test]
fn f156_hostile_pages_exceed_a_bound() {
    use ExtractError::{TooDeep, TooManyAttributes, TooManyHeadings, TooManyNodes, TooNested};
    let hidden = format!("{}</body><!--{}-->", "<div>".repeat(700), "x".repeat(600));
    let formatting = (0..400).map(|at| format!("<b a{at}>")).collect::<Vec<_>>().concat();
    let attributes = |count: usize| (0..count).map(|at| format!(" a{at}")).collect::<Vec<_>>().concat();
    let bold = format!("<b{}>", attributes(200)).repeat(3);
    for (html, error) in [
        ("<div>".repeat(1_000_000), TooDeep),
        (hidden.repeat(4), TooDeep),
        (format!("<p>{formatting}{}", "<p>x".repeat(600)), TooManyNodes),
        (format!("<p>{bold}{}", "<p>x".repeat(1_000)), TooManyNodes),
        (format!("<a{}>", attributes(1_000)), TooManyAttributes),
        (format!("<svg><![CDATA[]]></><a{}>", attributes(1_000)), TooManyAttributes),
        (format!("<a b='<c d' e=\"<f\"{}>", attributes(1_000)), TooManyAttributes),
        (format!("</a{}", attributes(200_000)), TooManyAttributes),
        ("<p>a".repeat(150_000), TooManyNodes),
        (format!("{}{}", "<span>".repeat(900), "</x>".repeat(12_000)), TooNested),
        ("<h6>a</h6>".repeat(30_000), TooManyHeadings),
    ] {
        let start: String = html.chars().take(40).collect();
        assert_eq!(super::extract(&html), Err(error), "{start}");
    }
}

#[test]
fn large_ordinary_pages_are_read() {
    assert_eq!(lines(&format!("{}tea", "<div>".repeat(900))), "tea");
    assert!(lines(&format!("{}tea", "<b><i></b></i>".repeat(3_000))).contains("tea"));
    let attributes = (0..250).map(|at| format!(" data-a{at}='b c'")).collect::<Vec<_>>().concat();
    let script = format!("<script>if (a<b && {}) {{}}</script>", "c d ".repeat(5_000));
    let path = format!("<svg><path d='M{}'/></svg>", " 1 2 L".repeat(5_000));
    let comment = format!("<!-- {} -->", "<b class='x'>words of a comment</b> ".repeat(2_000));
    let image = format!("<img src='data:image/png;base64,{}'>", "A+/ ".repeat(50_000));
    assert_eq!(lines(&format!("<p{attributes}>{script}{path}{comment}{image}tea")), "tea");
}

#[test]
fn white_space_of_code_is_read_once() {
    let spaces = " ".repeat(100_000);
    assert_eq!(lines(&format!("<pre>{spaces}{}tea", "<br>".repeat(50_000))), "tea");
    assert_eq!(lines("<ul><li><pre>  <br>  a"), "-   a");
}

#[test]
fn long_pages_are_parsed_in_steps() {
    let paragraph = "<p>这是一句关于茶的话。</p>";
    assert_eq!(lines(&paragraph.repeat(2_000)).matches("茶的话").count(), 2_000);
}
