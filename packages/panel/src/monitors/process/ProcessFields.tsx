import type { ProcessMonitor, ProcessMonitorInput, WorkerId } from "@scheduling/sdk"
import { RadioButtons, Field, Input, Select } from "../../ui/forms/Field.tsx"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { DurationField } from "../../ui/forms/DurationField.tsx"
import { parseLabels } from "../../workers/runOnValues.ts"
import { WorkerSelect } from "../../workers/WorkerSelect.tsx"
import { parseTags } from "../../ui/forms/parseTags.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { NameAndTagsFields } from "../NameAndTagsFields.tsx"
import { matchOf, type MatchBy, matchLabels } from "./match.ts"
import * as bounds from "../../data/bounds.ts"

const mebibyte = 1_048_576

export const newProcessValues = {
  name: "",
  tags: "",
  where: "worker" as "worker" | "labels",
  worker_id: "" as WorkerId | "",
  labels: "",
  judge: "each" as ProcessMonitor["judge"],
  match_by: "name" as MatchBy,
  match: "",
  min_count: "1",
  max_count: "",
  max_rss_bytes: "",
  max_cpu_percent: "",
  interval_seconds: 30 as number | null,
  grace_seconds: 60 as number | null
}

export type ProcessValues = typeof newProcessValues & { readonly version?: number }

const textOf = (value: number | null) => (value === null ? "" : String(value))

export const processValuesOf = (monitor: ProcessMonitor): ProcessValues => {
  const [match_by, match] = matchOf(monitor)
  return {
    version: monitor.version,
    name: monitor.name,
    tags: monitor.tags.join(", "),
    where: monitor.worker_id === null ? "labels" : "worker",
    worker_id: monitor.worker_id ?? "",
    labels: (monitor.labels ?? []).join(", "),
    judge: monitor.judge,
    match_by,
    match,
    min_count: String(monitor.min_count),
    max_count: textOf(monitor.max_count),
    max_rss_bytes: textOf(monitor.max_rss_bytes && monitor.max_rss_bytes / mebibyte),
    max_cpu_percent: textOf(monitor.max_cpu_percent),
    interval_seconds: monitor.interval_seconds,
    grace_seconds: monitor.grace_seconds
  }
}

const numberOf = (text: string) => (text === "" ? null : Number(text))

export const processInputOf = (values: ProcessValues): ProcessMonitorInput => ({
  name: values.name.trim() || values.match.trim(),
  tags: parseTags(values.tags),
  ...(values.where === "worker"
    ? { worker_id: values.worker_id as WorkerId }
    : { labels: parseLabels(values.labels), judge: values.judge }),
  match: { [values.match_by]: values.match.trim() },
  min_count: Number(values.min_count),
  max_count: numberOf(values.max_count),
  max_rss_bytes:
    values.max_rss_bytes === "" ? null : Math.round(Number(values.max_rss_bytes) * mebibyte),
  max_cpu_percent: numberOf(values.max_cpu_percent),
  interval_seconds: values.interval_seconds ?? 0,
  grace_seconds: values.grace_seconds ?? 0
})

/** Edits the worker labels and explains how the rules apply to the matching workers. */
const WorkersWithLabels = ({
  form: { errorOf, text }
}: {
  readonly form: FormOf<ProcessValues>
}) => (
  <>
    <Field
      label="Labels"
      hint="Every online worker that has all of these labels checks its processes."
      error={errorOf("labels")}
    >
      <Input {...text("labels")} mono required placeholder="web" />
    </Field>
    <Field
      label="Apply the rules"
      hint="For example, a web server runs on each worker, but a leader runs on only one of them."
      error={errorOf("judge")}
    >
      <Select
        options={[
          ["each", "On each worker"],
          ["together", "For all workers together"]
        ]}
        {...text("judge")}
      />
    </Field>
  </>
)

export const ProcessFields = ({ form }: { readonly form: FormOf<ProcessValues> }) => {
  const { errorOf, values } = form
  const words = matchLabels[values.match_by]
  return (
    <>
      <Section title="Process">
        <Card className="flex flex-col gap-5 p-5">
          <RadioButtons
            hasLabel
            label="Where"
            options={[
              ["worker", "On one worker"],
              ["labels", "On all workers with labels"]
            ]}
            {...form.field("where")}
          />
          {values.where === "worker" ? (
            <Field
              label="Worker"
              hint="The agent of this worker checks the processes on its machine."
              error={errorOf("worker_id")}
            >
              <WorkerSelect {...form.field("worker_id")} />
            </Field>
          ) : (
            <WorkersWithLabels form={form} />
          )}
          <RadioButtons
            hasLabel
            label="Match processes by"
            options={[
              ["name", "Name"],
              ["command_contains", "Command line"],
              ["pid_file", "PID file"]
            ]}
            {...form.field("match_by")}
          />
          <Field label={words.label} hint={words.hint} error={errorOf("match")}>
            <Input
              {...form.text("match")}
              autoFocus
              mono
              required
              spellCheck={false}
              autoComplete="off"
              placeholder={words.example}
            />
          </Field>
        </Card>
      </Section>
      <Section title="Rules">
        <Card className="flex flex-col gap-5 p-5">
          <div className="grid gap-5 sm:grid-cols-2">
            <Field label="Minimum number of processes" error={errorOf("min_count")}>
              <Input
                {...form.text("min_count")}
                type="number"
                {...bounds.ProcessMonitorInput.min_count}
                required
              />
            </Field>
            <Field
              label="Maximum number of processes"
              hint="Leave empty for no maximum."
              error={errorOf("max_count")}
            >
              <Input
                {...form.text("max_count")}
                type="number"
                {...bounds.ProcessMonitorInput.max_count}
              />
            </Field>
            <Field
              label="Maximum memory (MiB)"
              hint="The combined memory of all matching processes. Leave empty for no limit."
              error={errorOf("max_rss_bytes")}
            >
              <Input {...form.text("max_rss_bytes")} type="number" min={1} step="any" />
            </Field>
            <Field
              label="Maximum CPU usage (%)"
              hint="The combined CPU usage of all matching processes. 100% is one core. Leave empty for no limit."
              error={errorOf("max_cpu_percent")}
            >
              <Input
                {...form.text("max_cpu_percent")}
                type="number"
                {...bounds.ProcessMonitorInput.max_cpu_percent}
                step="any"
              />
            </Field>
          </div>
          <DurationField
            label="Grace period"
            hint="How long a rule may be violated, or the worker may fail to report, before the monitor goes down."
            limits={bounds.ProcessMonitorInput.grace_seconds}
            {...form.field("grace_seconds")}
          />
          <DurationField
            label="Check every"
            limits={bounds.ProcessMonitorInput.interval_seconds}
            {...form.field("interval_seconds")}
          />
        </Card>
      </Section>
      <Section title="Monitor">
        <Card className="flex flex-col gap-5 p-5">
          <NameAndTagsFields
            form={form}
            hint="Defaults to the name, command line or file above."
            example="Database"
          />
        </Card>
      </Section>
    </>
  )
}
