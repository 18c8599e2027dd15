mod provider;
mod sharing;
mod support;
mod tool;
