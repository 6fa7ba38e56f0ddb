//! Notification settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use vedette_model::{NotificationSettings, settings::ChannelSettings};

use super::*;
use crate::error::Error;

#[test]
fn settings_are_the_defaults_until_they_are_changed() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        assert_eq!(store.settings(account.id).await.unwrap(), NotificationSettings::default());
        let url = "https://hooks.example.com/s3cret".to_owned();
        let changed = store
            .update_settings(account.id, |settings| {
                settings.custom_webhook_url = Some(url.clone().into());
                Ok::<(), ()>(())
            })
            .await
            .unwrap()
            .unwrap();
        assert_eq!(changed.referenced("custom_webhook_url"), Some(&*url));
        assert_eq!(store.settings(account.id).await.unwrap(), changed);
    });
}

#[test]
fn settings_of_plugins_channels_are_kept_for_their_account() {
    on_both(|store| async move {
        let (account, stranger) = (signed_up(&store).await, signed_up(&store).await);
        let set = json!({"url": "https://pager.example/x", "rooms": ["ops", 2, null]});
        let channel: ChannelSettings = set.as_object().cloned().unwrap();
        let change = |settings: &mut NotificationSettings| {
            settings.plugin_channels.insert("pager".to_owned(), channel.clone().into());
            Ok::<(), ()>(())
        };
        let changed = store.update_settings(account.id, change).await.unwrap().unwrap();
        assert_eq!(changed.channels(), ["pager"]);
        let read = store.settings(account.id).await.unwrap();
        assert_eq!(read, changed);
        assert_eq!(read.config_of("pager"), Some(set));
        let theirs = store.settings(stranger.id).await.unwrap();
        assert_eq!(theirs, NotificationSettings::default());
    });
}

#[test]
fn a_refused_change_changes_nothing() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let refused = store
            .update_settings(account.id, |settings| {
                settings.email = true;
                Err("not in the plan")
            })
            .await
            .unwrap();
        assert_eq!(refused, Err("not in the plan"));
        assert_eq!(store.settings(account.id).await.unwrap(), NotificationSettings::default());
    });
}

#[test]
fn changes_at_once_are_all_kept() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let made = Arc::new(AtomicUsize::new(0));
        let add = {
            let (store, made) = (store.clone(), Arc::clone(&made));
            move |nth: usize| {
                let (store, made) = (store.clone(), Arc::clone(&made));
                async move {
                    store
                        .update_settings(account.id, |settings| {
                            made.fetch_add(1, Ordering::Relaxed);
                            settings.alert_emails.push(format!("{nth}@example.com"));
                            Ok::<(), ()>(())
                        })
                        .await
                        .unwrap()
                        .unwrap();
                }
            }
        };
        at_once(24, add).await;
        assert_eq!(made.load(Ordering::Relaxed), 24, "they take turns, and none is made again");
        assert_eq!(store.settings(account.id).await.unwrap().alert_emails.len(), 24);
    });
}

#[test]
fn nobody_without_an_account_has_settings() {
    on_both(|store| async move {
        let written = store.update_settings(account().id, |_| Ok::<(), ()>(())).await;
        assert!(matches!(written, Err(Error::Gone)), "{written:?}");
    });
}
