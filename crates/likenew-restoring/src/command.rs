//! Commands that answers advise: complete, and quoted for a shell.

use likenew_core::answer::Loss;
use likenew_core::drive::Kind;
use likenew_core::procedure::Evidence;
use likenew_core::shell::shell_quote;

/// `likenew PROCEDURE TARGET FLAGS` for the target of some evidence.
pub(crate) fn likenew(procedure: &str, evidence: &Evidence, flags: &str) -> String {
    let target = shell_quote(evidence.plan.target.as_deref().unwrap_or(&evidence.identity.name));
    let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
    format!("likenew {procedure} {target}{flags}")
}

/// What writing all of a target loses: a folder's free space and a simulated drive hold nothing of the owner's.
pub(crate) fn loss_of_writing(evidence: &Evidence) -> Loss {
    match evidence.identity.kind {
        Kind::Folder | Kind::Simulated => Loss::Nothing,
        _ => Loss::Everything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_one_word_of_the_shell() {
        let mut evidence = crate::fixtures::evidence();
        evidence.plan.target = Some("/mnt/my drive".into());
        assert_eq!(likenew("verify", &evidence, "--full"), "likenew verify '/mnt/my drive' --full");
        evidence.plan.target = Some("/dev/sda".into());
        assert_eq!(likenew("trim", &evidence, ""), "likenew trim /dev/sda");
    }
}
