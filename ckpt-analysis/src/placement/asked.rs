//! What is asked of the stages of one function: each question once, however many stages of the package ask it.

use crate::Analysis;
use crate::items::FnId;
use crate::placement::Candidate;
use crate::placement::expressible::{Words, no_thread_locals, with_marks};
use crate::placement::state_in_use::no_state_in_use;
use ckpt_compiler::diagnostics::Diagnostic;
use ckpt_compiler::explain::SiteReport;
use ckpt_compiler::passes::{self, Stages};
use ckpt_compiler::protection::{Protection, of_sites};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// What the stages make of a function with these sites, calls and attributes.
#[derive(Debug)]
pub struct Answer {
    /// The arguments of the function's attribute.
    pub arguments: TokenStream,
    /// The function.
    pub item: syn::ItemFn,
    /// What the stages before the emission have made of it, or what they refuse.
    pub stages: Result<Stages, Vec<Diagnostic>>,
    expressible: OnceCell<Result<(), Vec<Diagnostic>>>,
    function: FnId,
}

impl Answer {
    /// Whether the function can be instrumented so.
    ///
    /// # Errors
    /// What the stages find.
    pub(crate) fn is_expressible(&self, analysis: &Analysis) -> Result<(), Vec<Diagnostic>> {
        let found = || {
            let stages = self.stages.as_ref().map_err(Vec::clone)?;
            passes::emitted(stages, &self.item.to_token_stream())
                .and_then(|_| no_thread_locals(analysis, stages))
                .and_then(|()| no_state_in_use(analysis, stages, self.function))
                .map_err(|errors| errors.iter().cloned().collect())
        };
        self.expressible.get_or_init(found).clone()
    }

    /// What becomes of every variable at every site, and what its memory needs; nothing where a stage refuses.
    pub fn protection(&self) -> Option<Vec<(SiteReport, Vec<Protection>)>> {
        let stages = self.stages.as_ref().ok()?;
        Some(of_sites(stages, &self.item.to_token_stream()))
    }
}

/// An answer, or why the sites cannot even be put in.
type Known = Result<Rc<Answer>, Vec<Diagnostic>>;

/// The questions that have been asked, with their answers.
#[derive(Debug, Default)]
pub struct Asked(RefCell<HashMap<(Candidate, Words), Known>>);

impl Asked {
    /// Asks the stages about the function as proposed, with these attributes in the bytes of its file; those outside of
    /// the function do not count.
    ///
    /// # Errors
    /// Where a name is no path, or the place of a site is not there.
    pub fn answer(&self, analysis: &Analysis, candidate: &Candidate, mut words: Words) -> Known {
        if let Some(function) = analysis.items.functions.get(candidate.function.0) {
            words.retain(|at, _| function.place.bytes.contains(at));
        }
        let question = (candidate.clone(), words);
        if let Some(known) = self.0.borrow().get(&question) {
            return known.clone();
        }
        let known = with_marks(analysis, candidate, &question.1).map(|(arguments, item)| {
            let stages = passes::analyse_among(
                arguments.clone(),
                &item.to_token_stream(),
                analysis.library.own(),
                candidate.opens_session,
            );
            Rc::new(Answer {
                stages: stages.map_err(|errors| errors.iter().cloned().collect()),
                arguments,
                item,
                expressible: OnceCell::new(),
                function: candidate.function,
            })
        });
        self.0.borrow_mut().insert(question, known.clone());
        known
    }
}
