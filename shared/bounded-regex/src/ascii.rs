//! Replaces the classes and assertions whose Unicode form has large tables by their ASCII form.

use std::convert::Infallible;

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{self, Ast, ClassPerl, ClassPerlKind, ClassSetItem, Span, Visitor};

/// Returns the pattern with ASCII-only `\d`, `\s`, `\w` and `\b`, also in their negated forms; `None` if it cannot be
/// parsed or is nested too deeply.
pub(crate) fn restrict_classes(pattern: &str, max_nesting: u32) -> Option<String> {
    let tree = ParserBuilder::new().nest_limit(max_nesting).build().parse(pattern).ok()?;
    let Ok(edits) = ast::visit(&tree, EditCollector { pattern, edits: Vec::new() });
    let (mut text, mut end) = (String::with_capacity(pattern.len()), 0);
    for Edit { span, replacement } in edits {
        text.push_str(pattern.get(end..span.start.offset)?);
        text.push_str(&replacement);
        end = span.end.offset;
    }
    text.push_str(pattern.get(end..)?);
    Some(text)
}

/// The replacement of a part of a pattern.
struct Edit {
    span: Span,
    replacement: String,
}

/// Collects edits in the order of the pattern.
struct EditCollector<'a> {
    pattern: &'a str,
    edits: Vec<Edit>,
}

impl EditCollector<'_> {
    fn replace_class(&mut self, class: &ClassPerl) {
        let items = match class.kind {
            ClassPerlKind::Digit => "0-9",
            ClassPerlKind::Space => r"\t\n\x0B\x0C\r\x20",
            ClassPerlKind::Word => "0-9A-Za-z_",
        };
        let negation = if class.negated { "^" } else { "" };
        self.edits.push(Edit { span: class.span, replacement: format!("[{negation}{items}]") });
    }

    /// Replaces `\b` and its variants. The other assertions are the same in ASCII and Unicode.
    fn replace_assertion(&mut self, span: Span) {
        let text = self.pattern.get(span.start.offset..span.end.offset).unwrap_or_default();
        if [r"\b", r"\B", r"\<", r"\>"].iter().any(|boundary| text.starts_with(boundary)) {
            self.edits.push(Edit { span, replacement: format!("(?-u:{text})") });
        }
    }
}

impl Visitor for EditCollector<'_> {
    type Output = Vec<Edit>;
    type Err = Infallible;

    fn finish(self) -> Result<Vec<Edit>, Infallible> {
        Ok(self.edits)
    }

    fn visit_pre(&mut self, tree: &Ast) -> Result<(), Infallible> {
        match tree {
            Ast::ClassPerl(class) => self.replace_class(class),
            Ast::Assertion(assertion) => self.replace_assertion(assertion.span),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        if let ClassSetItem::Perl(class) = item {
            self.replace_class(class);
        }
        Ok(())
    }
}
