//! Queries over several pages; a page ends at its limit or at 1 MB.

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;

use crate::Result;
use crate::item::Item;
use crate::table::Table;

/// The pages of a query that are not read yet.
pub(crate) struct Pages<'a> {
    table: &'a Table,
    query: QueryFluentBuilder,
    start: Option<Item>,
    is_read: bool,
}

impl Pages<'_> {
    /// Reads the next page, which may be empty; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Item>>> {
        if self.is_read {
            return Ok(None);
        }
        let (items, next) = self.table.query_page(self.query.clone(), self.start.take()).await?;
        (self.is_read, self.start) = (next.is_none(), next);
        Ok(Some(items))
    }
}

impl Table {
    pub(crate) fn pages(&self, query: QueryFluentBuilder) -> Pages<'_> {
        Pages { table: self, query, start: None, is_read: false }
    }

    /// The first item of a query with a filter: its pages may be empty.
    pub(crate) async fn first(&self, query: QueryFluentBuilder) -> Result<Option<Item>> {
        let mut pages = self.pages(query);
        while let Some(items) = pages.next().await? {
            if let Some(first) = items.into_iter().next() {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    pub(crate) async fn query_all(&self, query: QueryFluentBuilder) -> Result<Vec<Item>> {
        let (mut pages, mut items) = (self.pages(query), Vec::new());
        while let Some(page) = pages.next().await? {
            items.extend(page);
        }
        Ok(items)
    }

    /// Deletes all items of a query, page by page; returns their number.
    pub(crate) async fn delete_queried(&self, query: QueryFluentBuilder) -> Result<usize> {
        let (mut pages, mut count) = (self.pages(query.projection_expression("pk, sk")), 0);
        while let Some(keys) = pages.next().await? {
            count += keys.len();
            self.delete_all(keys).await?;
        }
        Ok(count)
    }
}
