-- Names that begin as keys of a vault do.
SELECT col_total_2024_revenue_by_region, col_customer_lifetime_value_2025_q1,
       col_internationalization_settings, col_1, col_2, col_abcdefghijklmnopqrstuvwx
FROM amber_snapshots_of_the_last_thirty_days_by_tenant_and_agent
WHERE amber_vault_last_success_timestamp_seconds > 0 AND col_updatedAtTimestampMillis IS NOT NULL;
-- col_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx stands for a key, col_YOUR_API_KEY_GOES_HERE_0 does, too
