//! Rankings of chunks: scores of ranks, reciprocal rank fusion, and groups by article.

use std::collections::HashMap;

use crate::search_result::MAX_CHUNKS_OF_ARTICLE;

/// How slowly the score of a rank falls.
const RANK_OFFSET: f32 = 60.0;

/// How many of the best chunks of each ranking count.
const MAX_RANKED: usize = 100;

/// The best of the scored items, best first; those of equal scores in their own order.
pub(crate) fn best(mut scores: Vec<(u32, f32)>) -> Vec<u32> {
    let order = |one: &(u32, f32), other: &(u32, f32)| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0));
    if scores.len() > MAX_RANKED {
        scores.select_nth_unstable_by(MAX_RANKED, order);
        scores.truncate(MAX_RANKED);
    }
    scores.sort_unstable_by(order);
    scores.into_iter().map(|(item, _)| item).collect()
}

/// The score of a rank from 0 on: 1 for the best.
pub(crate) fn rank_score(rank: u16) -> f32 {
    RANK_OFFSET / (RANK_OFFSET + f32::from(rank))
}

/// Joins rankings, each best first; the scores are from 0 to 1, which the first item of every ranking has.
pub(crate) fn fuse(rankings: &[Vec<u32>]) -> Vec<(u32, f32)> {
    let mut sums: HashMap<u32, f32> = HashMap::new();
    for ranking in rankings {
        for (rank, item) in (0..).zip(ranking) {
            *sums.entry(*item).or_default() += rank_score(rank);
        }
    }
    let count = rankings.iter().fold(0.0_f32, |count, _| count + 1.0).max(1.0);
    let mut fused: Vec<(u32, f32)> = sums.into_iter().map(|(item, sum)| (item, sum / count)).collect();
    fused.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    fused
}

/// Groups ranked chunks by their articles, in the order of each article's best one; of an article the best chunks.
pub(crate) fn group<A: PartialEq, C>(ranked: impl IntoIterator<Item = (A, C)>) -> Vec<(A, Vec<C>)> {
    let mut articles: Vec<(A, Vec<C>)> = Vec::new();
    for (article, chunk) in ranked {
        match articles.iter_mut().find(|(known, _)| *known == article) {
            Some((_, chunks)) if chunks.len() >= MAX_CHUNKS_OF_ARTICLE => {}
            Some((_, chunks)) => chunks.push(chunk),
            None => articles.push((article, vec![chunk])),
        }
    }
    articles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_scores_come_first_and_are_bounded() {
        assert_eq!(best(vec![(4, 0.5), (1, 0.9), (3, 0.5), (2, -0.1)]), [1, 3, 4, 2]);
        let many = best((0..1_000_u16).map(|item| (u32::from(item), f32::from(item))).collect());
        assert_eq!((many.len(), many[0], many[99]), (MAX_RANKED, 999, 900));
    }

    #[test]
    fn item_of_both_rankings_wins() {
        let fused = fuse(&[vec![1, 2, 3], vec![4, 2]]);
        let order: Vec<u32> = fused.iter().map(|(item, _)| *item).collect();
        assert_eq!(order, [2, 1, 4, 3]);
        assert!((fuse(&[vec![7], vec![7]])[0].1 - 1.0).abs() < 1e-6);
        assert_eq!(fuse(&[]), []);
    }
}
