//! Values that examples are made of: one small world, so that they fit together.

pub(super) const ACCOUNT: &str = "0199c1de-3f00-7a10-8c21-5f0a4c9d1e00";
pub(super) const SITE: &str = "0199c1de-3f5a-7c31-9d4e-2b7f61c0a811";
pub(super) const ALERT: &str = "0199c1e2-8a44-7d02-b1c7-90d3e4f5a612";
pub(super) const DELIVERY: &str = "0199c1e2-8a45-5c13-a2d8-7b6a5c4d3e2f";
pub(super) const RECORD: &str = "0199c1e2-89f0-7e55-a3b9-1c2d3e4f5061";
pub(super) const KEY: &str = "0199c1dd-11aa-7b42-8f00-6a5b4c3d2e1f";
pub(super) const INCIDENT: &str = "0199c1e5-0b6c-7f13-92d8-7e6f5a4b3c2d";
pub(super) const UPDATE: &str = "0199c1e5-0b6d-7a24-a4e1-8f7a6b5c4d3e";
pub(super) const AGENT: &str = "0199c1e9-6f3a-7c46-96a3-a1b2c3d4e5f6";
pub(super) const TARGET: &str = "0199c1ea-7b4c-5d57-a7b4-b2c3d4e5f607";
pub(super) const WINDOW: &str = "0199c1e8-4d2e-7b35-b5f2-90a1b2c3d4e5";

pub(super) const DOMAIN: &str = "shop.example.com";
pub(super) const NOW: &str = "2026-11-20T15:04:05Z";
pub(super) const SOON: &str = "2026-11-29T08:00:00Z";
pub(super) const LATER: &str = "2027-02-18T23:59:59Z";
