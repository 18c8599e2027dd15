/// Replaces the placeholders of a text. Braces in the values remain as they are.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let placeholder = after.split_once('}').and_then(|(name, tail)| Some((value_of(name, values)?, tail)));
        if let Some((value, tail)) = placeholder {
            filled.push_str(value);
            rest = tail;
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

fn value_of<'a>(name: &str, values: &[(&str, &'a str)]) -> Option<&'a str> {
    values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_inside_values_are_not_filled() {
        assert_eq!(fill("{a} {b} {c}{", &[("a", "{b}"), ("b", "2")]), "{b} 2 {c}{");
    }
}
