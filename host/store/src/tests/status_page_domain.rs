//! Custom domains: claims, proofs, and what becomes of them when settings change.

use super::*;
use crate::Holding;
use crate::error::Error;

const DOMAIN: &str = "status.example.com";

/// Names the domain in the account's settings, or none.
async fn name(store: &Store, account: &Account, domain: Option<&str>) -> Result<()> {
    let changed = store
        .update_settings(account.id, |settings| {
            settings.status_page_custom_domain = domain.map(str::to_owned);
            Ok::<(), ()>(())
        })
        .await?;
    changed.expect("nothing is refused");
    Ok(())
}

#[test]
fn a_domain_is_claimed_by_many_and_held_by_one() {
    on_both(|store| async move {
        let (one, two) = (signed_up(&store).await, signed_up(&store).await);
        assert!(store.status_page_claimants(DOMAIN, 10).await.unwrap().is_empty());
        name(&store, &one, Some(DOMAIN)).await.unwrap();
        name(&store, &two, Some(DOMAIN)).await.unwrap();
        assert_eq!(store.status_page_claimants(DOMAIN, 10).await.unwrap().len(), 2);
        let first = store.status_page_claimants(DOMAIN, 1).await.unwrap();
        assert_eq!(first, [one.id], "the first that came");
        assert!(store.status_page_claimants("example.com", 10).await.unwrap().is_empty());
        assert_eq!(store.status_page_holding(DOMAIN).await.unwrap(), None);

        store.hold_status_page_domain(DOMAIN, two.id, noon()).await.unwrap();
        let held = Holding { account: two.id, proven_at: noon() };
        assert_eq!(store.status_page_holding(DOMAIN).await.unwrap(), Some(held));
        let refused = store.hold_status_page_domain(DOMAIN, one.id, noon()).await;
        assert!(matches!(refused, Err(Error::DomainTaken)), "{refused:?}");
    });
}

#[test]
fn claims_stand_in_the_order_in_which_they_were_made() {
    on_both(|store| async move {
        let mut accounts = Vec::new();
        for _ in 0..4 {
            let account = signed_up(&store).await;
            name(&store, &account, Some(DOMAIN)).await.unwrap();
            accounts.push(account);
        }
        // Other changes leave a claim where it is; who comes back comes last.
        name(&store, &accounts[1], Some(DOMAIN)).await.unwrap();
        name(&store, &accounts[0], None).await.unwrap();
        name(&store, &accounts[0], Some(DOMAIN)).await.unwrap();
        let order = [1, 2, 3, 0].map(|nth: usize| accounts[nth].id);
        assert_eq!(store.status_page_claimants(DOMAIN, 10).await.unwrap(), order);
        assert_eq!(store.status_page_claimants(DOMAIN, 2).await.unwrap(), order[..2]);
    });
}

#[test]
fn a_domain_that_is_held_is_not_claimed_anew() {
    on_both(|store| async move {
        let (one, two) = (signed_up(&store).await, signed_up(&store).await);
        name(&store, &one, Some(DOMAIN)).await.unwrap();
        store.hold_status_page_domain(DOMAIN, one.id, noon()).await.unwrap();
        let refused = name(&store, &two, Some(DOMAIN)).await;
        assert!(matches!(refused, Err(Error::DomainTaken)), "{refused:?}");
        assert_eq!(store.settings(two.id).await.unwrap().status_page_custom_domain, None);
        name(&store, &one, Some(DOMAIN)).await.unwrap();
        assert!(store.status_page_holding(DOMAIN).await.unwrap().is_some(), "still theirs");
    });
}

#[test]
fn leaving_a_domain_frees_it() {
    on_both(|store| async move {
        let (one, two) = (signed_up(&store).await, signed_up(&store).await);
        for next in [None, Some("other.example.com")] {
            name(&store, &one, Some(DOMAIN)).await.unwrap();
            store.hold_status_page_domain(DOMAIN, one.id, noon()).await.unwrap();
            name(&store, &one, next).await.unwrap();
            assert_eq!(store.status_page_holding(DOMAIN).await.unwrap(), None);
            assert!(store.status_page_claimants(DOMAIN, 10).await.unwrap().is_empty());
            let gone = store.hold_status_page_domain(DOMAIN, one.id, noon()).await;
            assert!(matches!(gone, Err(Error::Gone)), "{gone:?}");
        }
        name(&store, &two, Some(DOMAIN)).await.unwrap();
        store.hold_status_page_domain(DOMAIN, two.id, noon()).await.unwrap();
        let kept = store.status_page_claimants("other.example.com", 10).await.unwrap();
        assert_eq!(kept, [one.id]);
    });
}

#[test]
fn what_somebody_else_holds_is_not_freed_by_leaving_it() {
    on_both(|store| async move {
        let (one, two) = (signed_up(&store).await, signed_up(&store).await);
        name(&store, &one, Some(DOMAIN)).await.unwrap();
        name(&store, &two, Some(DOMAIN)).await.unwrap();
        store.hold_status_page_domain(DOMAIN, two.id, noon()).await.unwrap();
        name(&store, &one, None).await.unwrap();
        let held = store.status_page_holding(DOMAIN).await.unwrap().expect("it is held");
        assert_eq!(held.account, two.id);
    });
}

#[test]
fn a_proof_that_was_renewed_is_not_taken_back() {
    on_both(|store| async move {
        let one = signed_up(&store).await;
        name(&store, &one, Some(DOMAIN)).await.unwrap();
        store.hold_status_page_domain(DOMAIN, one.id, noon()).await.unwrap();
        let old = store.status_page_holding(DOMAIN).await.unwrap().expect("it is held");
        store.hold_status_page_domain(DOMAIN, one.id, noon() + seconds(3600)).await.unwrap();
        store.release_status_page_domain(DOMAIN, old).await.unwrap();
        let held = store.status_page_holding(DOMAIN).await.unwrap().expect("it is held");
        assert_eq!(held.proven_at, noon() + seconds(3600));
        store.release_status_page_domain(DOMAIN, held).await.unwrap();
        assert_eq!(store.status_page_holding(DOMAIN).await.unwrap(), None);
    });
}

#[test]
fn of_proofs_at_once_one_holds() {
    on_both(|store| async move {
        let mut accounts = Vec::new();
        for _ in 0..8 {
            let account = signed_up(&store).await;
            name(&store, &account, Some(DOMAIN)).await.unwrap();
            accounts.push(account.id);
        }
        let hold = {
            let (store, accounts) = (store.clone(), accounts.clone());
            move |nth: usize| {
                let (store, account) = (store.clone(), accounts[nth]);
                async move { store.hold_status_page_domain(DOMAIN, account, noon()).await }
            }
        };
        let answers = at_once(accounts.len(), hold).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        assert!(answers.iter().all(|a| matches!(a, Ok(()) | Err(Error::DomainTaken))));
        let held = store.status_page_holding(DOMAIN).await.unwrap().expect("it is held");
        let winner = answers.iter().position(|answer| answer.is_ok()).expect("there is one");
        assert_eq!(held.account, accounts[winner]);
    });
}
