{{- define "amber.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
env:
  # The volume may belong to root and be open to its group: the home is a folder in it that only Amber may read.
  - {name: AMBER_HOME, value: [[.ImageData]]/home}
  {{- if .Values.postgres.secret }}
  - {name: AMBER_MEMORY__BACKEND, value: postgres}
  - {name: AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE, value: /etc/amber/postgres/{{ .Values.postgres.key }}}
  {{- if .Values.postgres.plain }}
  - {name: AMBER_MEMORY__BACKENDS__POSTGRES__PLAIN, value: "true"}
  {{- end }}
  {{- end }}
  {{- if .Values.snapshots.root }}
  - {name: AMBER_SNAPSHOT__ROOT, value: {{ .Values.snapshots.root | quote }}}
  {{- end }}
  {{- if .Values.snapshots.secret }}
  - {name: AWS_SHARED_CREDENTIALS_FILE, value: /etc/amber/snapshots/credentials}
  {{- end }}
  {{- if .Values.config }}
  - {name: XDG_CONFIG_HOME, value: /etc/amber/config}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumeMounts:
  - {name: home, mountPath: [[.ImageData]]}
  - {name: tmp, mountPath: /tmp}
  {{- if .Values.config }}
  - {name: config, mountPath: /etc/amber/config/amber/config.yaml, subPath: config.yaml, readOnly: true}
  {{- end }}
  {{- if .Values.postgres.secret }}
  - {name: postgres, mountPath: /etc/amber/postgres, readOnly: true}
  {{- end }}
  {{- if .Values.snapshots.secret }}
  - {name: snapshots, mountPath: /etc/amber/snapshots, readOnly: true}
  {{- end }}
{{- end }}
