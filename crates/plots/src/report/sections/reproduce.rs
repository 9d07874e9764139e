//! Section: how to reproduce the report.

use crate::error::PlotError;
use crate::explained::shown;
use crate::report::page::Page;

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    match &page.given.command {
        Some(command) => {
            page.html.paragraph(match page.given.is_abridged {
                true => {
                    "Created by this command. Arguments of the program after --predict are hidden (…), as \
                     they may contain passwords and tokens; --show-command shows them."
                }
                false => {
                    "Running this command on the same results reproduces this report byte for byte, \
                          except for the timing:"
                }
            });
            let attributes = [("tabindex", "0"), ("role", "region"), ("aria-label", "command")];
            page.html.open("pre", &attributes).element("code", &[], &shown(command)).close("pre");
        }
        None => {
            page.html.paragraph("The command was not recorded.");
        }
    }
    Ok(())
}
