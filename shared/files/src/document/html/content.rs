use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};

/// Elements whose content is no text of the article.
const SKIPPED: [&str; 25] = [
    "head", "script", "style", "noscript", "template", "svg", "canvas", "nav", "footer", "aside", "dialog", "iframe",
    "object", "audio", "video", "button", "select", "input", "textarea", "datalist", "map", "rt", "rp", "frameset",
    "menu",
];

/// Roles of elements that are around an article.
const SKIPPED_ROLES: [&str; 6] = ["navigation", "banner", "contentinfo", "complementary", "search", "dialog"];

/// An only `<article>` is the article of the page if it has at least one in so many bytes of its text.
const MIN_SHARE: usize = 4;

/// The starts and ends of the nodes at and below a node that are text of the article or have some.
pub(super) fn article_edges(root: NodeRef<'_, Node>) -> impl Iterator<Item = Edge<'_, Node>> {
    let mut skipped = 0_usize;
    root.traverse().filter(move |edge| {
        let (Edge::Open(node) | Edge::Close(node)) = edge;
        if !node.value().as_element().is_some_and(is_skipped) {
            return skipped == 0;
        }
        skipped = if matches!(edge, Edge::Open(_)) { skipped + 1 } else { skipped.saturating_sub(1) };
        false
    })
}

/// Whether an element and all below it are no text of the article.
fn is_skipped(element: &Element) -> bool {
    SKIPPED.contains(&element.name())
        || element.attr("role").is_some_and(|role| SKIPPED_ROLES.contains(&role))
        || element.attr("hidden").is_some()
        || element.attr("aria-hidden") == Some("true")
}

/// The element with the article: the only `<article>`, else `<main>`, else the whole page.
pub(super) fn main_element(page: &Html) -> NodeRef<'_, Node> {
    let is_main = |element: &Element| element.name() == "main" || element.attr("role") == Some("main");
    let main = elements(page).find(|(_, element)| is_main(element)).map(|(node, _)| node);
    let mut articles = elements(page).filter(|(_, element)| element.name() == "article");
    let article = articles.next().map(|(node, _)| node);
    let other = articles.find(|(node, _)| article.is_none_or(|first| !node.ancestors().any(|above| above == first)));
    let whole = main.unwrap_or_else(|| page.tree.root());
    match article {
        Some(article) if other.is_none() && text_bytes(article) * MIN_SHARE >= text_bytes(whole) => article,
        _ => whole,
    }
}

/// The text of `<title>` of the page, not of a picture in it.
pub(super) fn title(page: &Html) -> Option<String> {
    let is_of_page = |node: &NodeRef<'_, Node>| {
        !node.ancestors().any(|above| above.value().as_element().is_some_and(|element| element.name() == "svg"))
    };
    let title = elements(page).find(|(node, element)| element.name() == "title" && is_of_page(node))?.0;
    Some(title.children().filter_map(|child| child.value().as_text()).map(|text| &**text).collect())
}

/// All elements in document order.
fn elements(page: &Html) -> impl Iterator<Item = (NodeRef<'_, Node>, &Element)> {
    page.tree.root().descendants().filter_map(|node| Some((node, node.value().as_element()?)))
}

/// The length of the text of the article in a node, without white space around its parts.
fn text_bytes(node: NodeRef<'_, Node>) -> usize {
    let texts = article_edges(node).filter_map(|edge| match edge {
        Edge::Open(node) => node.value().as_text(),
        Edge::Close(_) => None,
    });
    texts.map(|text| text.trim().len()).sum()
}
