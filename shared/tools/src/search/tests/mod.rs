mod budget;
mod deeper;
mod page;
mod provider;
mod sharing;
mod support;
mod tool;
