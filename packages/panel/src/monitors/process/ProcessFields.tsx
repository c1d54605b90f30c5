import type { ProcessMonitor, ProcessMonitorInput, WorkerId } from "@scheduling/sdk"
import { Choice, Field, Input, Select } from "../../ui/forms/Field.tsx"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { SpanInput } from "../../ui/forms/SpanInput.tsx"
import { labelsOf } from "../../workers/labelsOf.ts"
import { WorkerSelect } from "../../workers/WorkerSelect.tsx"
import { tagsOf } from "../MonitorFrame.tsx"
import type { MonitorForm } from "../monitorPages.tsx"
import { NameFields } from "../NameFields.tsx"
import { matchOf, type MatchBy, matchWords } from "./match.ts"
import * as bounds from "../../data/bounds.ts"

const mebibyte = 1_048_576

export const newProcess = {
  name: "",
  tags: "",
  place: "worker" as "worker" | "labels",
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

export type ProcessValues = typeof newProcess

const textOf = (value: number | null) => (value === null ? "" : String(value))

export const processValuesOf = (monitor: ProcessMonitor): ProcessValues => {
  const [match_by, match] = matchOf(monitor)
  return {
    name: monitor.name,
    tags: monitor.tags.join(", "),
    place: monitor.worker_id === null ? "labels" : "worker",
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
  tags: tagsOf(values.tags),
  ...(values.place === "worker"
    ? { worker_id: values.worker_id as WorkerId }
    : { labels: labelsOf(values.labels), judge: values.judge }),
  match: { [values.match_by]: values.match.trim() },
  min_count: Number(values.min_count),
  max_count: numberOf(values.max_count),
  max_rss_bytes:
    values.max_rss_bytes === "" ? null : Math.round(Number(values.max_rss_bytes) * mebibyte),
  max_cpu_percent: numberOf(values.max_cpu_percent),
  interval_seconds: values.interval_seconds ?? 0,
  grace_seconds: values.grace_seconds ?? 0
})

/** All online workers with some labels, and how they count. */
const WorkersWithLabels = ({
  form: { errorOf, set, text, values }
}: {
  readonly form: MonitorForm<ProcessValues>
}) => (
  <>
    <Field
      label="Labels"
      hint="Every online worker that has all of these labels checks."
      error={errorOf("labels")}
    >
      <Input {...text("labels")} mono required placeholder="web" />
    </Field>
    <Field
      label="Apply the rules"
      hint="For example: the web server runs on every worker, or one leader runs on any of them."
      error={errorOf("judge")}
    >
      <Select
        value={values.judge}
        options={[
          ["each", "On each worker"],
          ["together", "For all workers together"]
        ]}
        onChange={({ target }) => set({ judge: target.value as ProcessValues["judge"] })}
      />
    </Field>
  </>
)

export const ProcessFields = ({ form }: { readonly form: MonitorForm<ProcessValues> }) => {
  const { errorOf, set, values } = form
  const words = matchWords[values.match_by]
  return (
    <>
      <Section title="Process">
        <Card className="flex flex-col gap-5 p-5">
          <Choice
            label="Where"
            value={values.place}
            options={[
              ["worker", "On one worker"],
              ["labels", "On all with labels"]
            ]}
            onChange={(place) => set({ place })}
          />
          {values.place === "worker" ? (
            <Field
              label="Worker"
              hint="Its agent checks, on the machine that it runs on."
              error={errorOf("worker_id")}
            >
              <WorkerSelect value={values.worker_id} onChange={(worker_id) => set({ worker_id })} />
            </Field>
          ) : (
            <WorkersWithLabels form={form} />
          )}
          <Choice
            label="Found by"
            value={values.match_by}
            options={[
              ["name", "Its name"],
              ["command_contains", "Its command line"],
              ["pid_file", "A file"]
            ]}
            onChange={(match_by) => set({ match_by })}
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
              hint="Any number if empty."
              error={errorOf("max_count")}
            >
              <Input
                {...form.text("max_count")}
                type="number"
                {...bounds.ProcessMonitorInput.max_count}
              />
            </Field>
            <Field
              label="Memory at most, in MiB"
              hint="Of all of them together. Any if empty."
              error={errorOf("max_rss_bytes")}
            >
              <Input {...form.text("max_rss_bytes")} type="number" min={1} step="any" />
            </Field>
            <Field
              label="Processor time at most, in %"
              hint="Of all of them together; 100 is one core. Any if empty."
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
          <Field
            label="Grace"
            hint="How long a rule may be broken, or the worker silent, before the monitor goes down."
            error={errorOf("grace_seconds")}
          >
            <SpanInput
              label="Grace"
              limits={bounds.ProcessMonitorInput.grace_seconds}
              seconds={values.grace_seconds}
              onChange={(grace_seconds) => set({ grace_seconds })}
            />
          </Field>
          <Field label="Check every" error={errorOf("interval_seconds")}>
            <SpanInput
              label="Check every"
              limits={bounds.ProcessMonitorInput.interval_seconds}
              seconds={values.interval_seconds}
              onChange={(interval_seconds) => set({ interval_seconds })}
            />
          </Field>
        </Card>
      </Section>
      <Section title="Monitor">
        <Card className="flex flex-col gap-5 p-5">
          <NameFields
            form={form}
            hint="Defaults to the name, command line or file above."
            example="Database"
          />
        </Card>
      </Section>
    </>
  )
}
