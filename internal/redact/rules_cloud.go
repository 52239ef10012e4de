package redact

import "strings"

// cloudRules are the keys of cloud providers and hosts.
func cloudRules() []rule {
	return []rule{
		shape{
			anchors: []string{"AKIA", "ASIA", "ABIA", "ACCA"},
			pattern: `A(?:KI|SI|BI|CC)A[0-9A-Z]{16}`,
			tail:    upperAlnum,
			edge:    base64Edge,
			body:    16,
		}.named("aws-access-key-id"),
		bare("aws-bedrock-api-key", base64Pad, 100, "ABSK"),
		shape{
			anchors: []string{"amzn.mws."},
			pattern: `amzn\.mws\.` + uuid,
		}.named("aws-mws-token"),
		prefixed("aws-appsync-key", lowerAlnum, 26, "da2-"),
		prefixed("google-oauth-client-secret", urlSafe, 24, "GOCSPX-"),
		prefixed("google-oauth-token", urlSafe, 40, "ya29."),
		prefixed("google-oauth-refresh-token", urlSafe, 40, "1//0"),
		shape{
			anchors: []string{":APA91b"},
			pattern: `[0-9A-Za-z_-]{11}:APA91b[0-9A-Za-z_-]{100}`,
			lead:    urlSafe,
			back:    11,
			tail:    urlSafe,
			body:    100,
		}.named("firebase-server-key"),
		prefixed("digitalocean-token", hexLower, 64, "dop_v1_", "doo_v1_", "dor_v1_"),
		prefixed("cloudflare-api-token", alnum, 40, "cfk_", "cfut_", "cfat_"),
		shape{
			anchors: []string{"v1.0-"},
			pattern: `v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`,
		}.named("cloudflare-origin-ca-key"),
		prefixed("heroku-api-key", urlSafe, 40, "HRKU-"),
		prefixed("fly-access-token", urlSafe, 40, "fo1_"),
		prefixed("fly-access-token", base64Pad, 100, "fm1r_", "fm1a_", "fm2_"),
		prefixed("vercel-token", alnum, 24, "vcp_", "vci_", "vca_", "vcr_", "vck_"),
		prefixed("netlify-token", alnum, 36, "nfp_", "nfc_", "nfo_", "nfb_", "nfu_"),
		prefixed("render-api-key", alnum, 26, "rnd_"),
		bare("alibaba-access-key-id", alnum, 16, "LTAI"),
		bare("tencent-secret-id", alnum, 32, "AKID"),
		bare("yandex-api-key", urlSafe, 35, "AQVN"),
		bare("scaleway-access-key", upperAlnum, 17, "SCW"),
		prefixed("deno-deploy-token", alnum, 36, "ddp_", "ddw_"),
		prefixed("openshift-token", urlSafe, 43, "sha256~"),
	}
}

// storageRules are the keys of storage accounts and databases.
func storageRules() []rule {
	return []rule{
		shape{
			anchors: []string{"AccountKey=", "SharedAccessKey="},
			pattern: `(?:Account|SharedAccess)Key=([0-9A-Za-z+/]{43})`,
			tail:    base64Pad,
			edge:    noEdge,
		}.named("azure-storage-key"),
		shape{
			anchors: []string{"sig="},
			pattern: `sig=([0-9A-Za-z+/%]{42,120}?(?:%3[Dd]|=))`,
		}.named("azure-sas-signature"),
		shape{
			anchors: []string{"Q~"},
			pattern: `[0-9A-Za-z_~.-]{3}[0-9]Q~[0-9A-Za-z_~.-]{31}`,
			lead:    newClass("0-9A-Za-z_~.-"),
			back:    4,
			tail:    newClass("0-9A-Za-z_~.-"),
		}.named("azure-client-secret"),
		shape{
			anchors: []string{"JQQJ99"},
			pattern: `[0-9A-Za-z]{52}JQQJ99[0-9A-Za-z]{26}`,
			lead:    alnum,
			back:    52,
		}.named("azure-platform-key"),
		bare("databricks-token", hexLower, 32, "dapi"),
		prefixed("planetscale-token", newClass("0-9A-Za-z_=.-"), 32, "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
		prefixed("supabase-token", hexLower, 40, "sbp_"),
		prefixed("supabase-token", urlSafe, 24, "sb_secret_"),
		prefixed("neon-api-key", alnum, 48, "napi_"),
		prefixed("mongodb-service-secret", urlSafe, 40, "mdb_sa_sk_"),
		shape{
			anchors: []string{"K000", "K001", "K002", "K003", "K004", "K005"},
			pattern: `K00[0-5][0-9A-Za-z+/]{27}`,
			edge:    base64Edge,
			accept:  func(s string) bool { return mixed(s) && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") },
		}.named("backblaze-application-key"),
		prefixed("dropbox-token", urlSafe, 100, "sl."),
		prefixed("dropbox-token", urlSafe, 100, "sl.u."),
		shape{
			anchors: []string{"essu_"},
			pattern: `essu_[0-9A-Za-z+/_-]{40}`,
			tail:    base64Pad,
		}.named("elastic-cloud-key"),
	}
}
