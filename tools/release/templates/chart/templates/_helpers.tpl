{{- define "amber.name" -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{- define "amber.selector" -}}
app.kubernetes.io/name: [[.Name]]
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "amber.labels" -}}
{{ include "amber.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
