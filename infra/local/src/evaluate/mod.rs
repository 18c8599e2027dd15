//! `evaluate`: questions with known right calls, answered by the whole product in this process, and the share of right
//! calls of each model.
//!
//! * `command`: the order of questions and models, and the exit code
//! * `question`: the format of questions, and the built-in ones
//! * `sample_documents`: the documents of the built-in questions about documents
//! * `product`: the product with a database in memory
//! * `observation`: what happened in a turn
//! * `judge`: which calls are right
//! * `leaks`: remains of calls in shown text
//! * `outcome`: the result of a question
//! * `report`: the printed result

mod command;
mod judge;
mod leaks;
mod observation;
mod outcome;
mod product;
mod question;
mod report;
mod sample_documents;

pub(crate) use command::EvaluateCommand;
