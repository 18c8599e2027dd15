//! Embeddings with a byte for each component, and their cosine.

use store::QuantisedVector;

/// The largest absolute value of a component.
const MAX_COMPONENT: f32 = 127.0;

/// Below this cosine no embedding model sees any similarity.
pub(crate) const MIN_COSINE: f32 = 0.1;

/// Normalises a vector to length 1 and rounds it; `None` for one without a direction.
pub(crate) fn quantise(vector: &[f32]) -> Option<QuantisedVector> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if !length.is_normal() || !largest.is_normal() {
        return None;
    }
    let scale = largest / length / MAX_COMPONENT;
    let factor = MAX_COMPONENT / largest;
    let values = vector.iter().map(|value| round(value * factor)).collect();
    Some(QuantisedVector { scale, values })
}

#[expect(clippy::cast_possible_truncation, reason = "the value is within the range")]
fn round(value: f32) -> i8 {
    value.round().clamp(-MAX_COMPONENT, MAX_COMPONENT) as i8
}

/// The cosine of two vectors of the same length.
#[expect(clippy::cast_precision_loss, reason = "a score needs no more than seven digits")]
pub(crate) fn cosine(query: &QuantisedVector, values: &[i8], scale: f32) -> f32 {
    // The sum cannot overflow with up to 130,000 components, which no embedding has.
    let dot: i32 = query.values.iter().zip(values).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum();
    dot as f32 * query.scale * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine_of(one: &[f32], other: &[f32]) -> f32 {
        let (one, other) = (quantise(one).unwrap(), quantise(other).unwrap());
        cosine(&one, &other.values, other.scale)
    }

    #[test]
    fn rounded_cosine_is_close_to_exact() {
        let vector = |seed: u16| (0..512).map(|at| f32::from(at * 37 + seed * seed * 11).sin()).collect::<Vec<_>>();
        for (one, other) in [(1, 1), (1, 2), (3, 5), (2, 7)] {
            let (one, other) = (vector(one), vector(other));
            let sum = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            let exact = sum(&one, &other) / (sum(&one, &one) * sum(&other, &other)).sqrt();
            assert!((cosine_of(&one, &other) - exact).abs() < 0.01, "{exact}");
        }
        assert!(cosine_of(&[1.0, 0.0], &[-3.0, 0.0]) < -0.99);
    }

    #[test]
    fn vector_without_direction_is_refused() {
        for vector in [&[0.0, 0.0][..], &[], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert_eq!(quantise(vector), None, "{vector:?}");
        }
    }
}
