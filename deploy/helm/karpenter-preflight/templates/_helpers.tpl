{{- define "preflight.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "preflight.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "preflight.fullname" .) }}
{{- else }}
{{- required "serviceAccount.name is needed where serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "preflight.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "preflight.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "preflight.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The container that judges. Call with (dict "root" . "metrics" "none|textfile|pushgateway"). */}}
{{- define "preflight.container" -}}
{{- $values := .root.Values -}}
name: check
image: {{ include "preflight.image" .root }}
imagePullPolicy: {{ $values.image.pullPolicy }}
args:
  - check
  - --cluster={{ $values.cluster }}
  - --output=human
  {{- if ne .metrics "none" }}
  - --output=prometheus=/metrics/karpenter-preflight-{{ $values.cluster }}.prom
  {{- end }}
  {{- if eq .metrics "pushgateway" }}
  # The metrics tell what was found; the Job fails only where nothing could be told.
  - --fail-on=never
  - --allow-unknown
  {{- end }}
  {{- if $values.config }}
  - --config=/etc/karpenter-preflight/karpenter-preflight.toml
  {{- end }}
  {{- range $values.arguments }}
  - {{ . | quote }}
  {{- end }}
securityContext:
  {{- include "preflight.containerSecurity" .root | nindent 2 }}
resources:
  {{- toYaml $values.resources | nindent 2 }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- if $values.config }}
  - name: config
    mountPath: /etc/karpenter-preflight
    readOnly: true
  {{- end }}
  {{- if ne .metrics "none" }}
  - name: metrics
    mountPath: /metrics
  {{- end }}
{{- end }}

{{- define "preflight.push" -}}
{{- $push := .Values.metrics.pushgateway -}}
name: push
image: {{ required "metrics.pushgateway.image is needed: an image with curl" $push.image }}
command: [curl]
args:
  - --fail
  - --silent
  - --show-error
  - --retry
  - "3"
  - --data-binary
  - "@/metrics/karpenter-preflight-{{ .Values.cluster }}.prom"
  - {{ printf "%s/metrics/job/karpenter-preflight/cluster/%s" (required "metrics.pushgateway.url is needed" $push.url) .Values.cluster | quote }}
securityContext:
  {{- include "preflight.containerSecurity" . | nindent 2 }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: metrics
    mountPath: /metrics
    readOnly: true
{{- end }}

{{/* The pod's specification. Call with (dict "root" . "metrics" …). */}}
{{- define "preflight.pod" -}}
{{- $values := .root.Values -}}
serviceAccountName: {{ include "preflight.serviceAccount" .root }}
restartPolicy: Never
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if eq .metrics "pushgateway" }}
initContainers:
  - {{- include "preflight.container" . | nindent 4 }}
containers:
  - {{- include "preflight.push" .root | nindent 4 }}
{{- else }}
containers:
  - {{- include "preflight.container" . | nindent 4 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {}
  {{- if $values.config }}
  - name: config
    configMap:
      name: {{ include "preflight.fullname" .root }}
  {{- end }}
  {{- if eq .metrics "pushgateway" }}
  - name: metrics
    emptyDir: {}
  {{- else if eq .metrics "textfile" }}
  - name: metrics
    hostPath:
      path: {{ $values.metrics.textfile.hostPath }}
      type: Directory
  {{- end }}
{{- end }}
