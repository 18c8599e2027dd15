mod budget;
mod deeper;
mod fake_provider;
mod page;
mod provider;
mod sharing;
mod support;
mod tool;
