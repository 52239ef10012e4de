-- control.db, schema 2.

-- Approvals: the token that asked, '' for the owner; and who a decision says has
-- decided, where that is not who did.
ALTER TABLE approvals ADD COLUMN requested_by TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN claimed_by TEXT NOT NULL DEFAULT '';
