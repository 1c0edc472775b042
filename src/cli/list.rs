//! `list`: the command line.

use clap::{Args, Subcommand, builder::StringValueParser};

use super::{
    TextFormat,
    offered::{self, offered},
};
use crate::errors::Place;

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(subcommand)]
    pub what: ListWhat,
}

#[derive(Debug, Subcommand)]
pub enum ListWhat {
    /// Every check, in the order in which a node comes to life
    Checks {
        /// How to print the list
        #[arg(long, short, value_enum, default_value_t)]
        output: TextFormat,
    },
    /// Every documented error, by area
    Errors(ErrorsArgs),
}

#[derive(Debug, Args)]
pub struct ErrorsArgs {
    /// Only errors of this area, such as `join` or `permissions`
    #[arg(long, value_parser = offered(StringValueParser::new(), offered::error_areas), hide_possible_values = true)]
    pub area: Option<String>,
    /// Only errors that are printed here
    #[arg(long, value_enum, hide_possible_values = true)]
    pub place: Option<Place>,
    /// Only errors with a cause that this check proves
    #[arg(long, value_name = "ID", value_parser = offered(StringValueParser::new(), offered::checks), hide_possible_values = true)]
    pub check: Option<String>,
    /// How to print the list
    #[arg(long, short, value_enum, default_value_t)]
    pub output: TextFormat,
}
