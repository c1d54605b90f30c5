import type { MaintenanceWindow, MaintenanceWindowDefinition } from "@scheduling/sdk"
import * as bounds from "../data/bounds.ts"
import { useWorkspace } from "../data/client.ts"
import { TargetPicker } from "../ui/forms/TargetPicker.tsx"
import { useRuleTargets } from "../data/targets.ts"
import { dateTimeInputOf } from "../tasks/schedule/firingOptionValues.ts"
import { ZoneInput } from "../tasks/schedule/ZoneInput.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Checkbox, RadioButtons, Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { uniqueKeyFrom } from "../ui/forms/uniqueKeyFrom.ts"
import { DurationField } from "../ui/forms/DurationField.tsx"
import { parseTags } from "../ui/forms/parseTags.ts"
import { type FormOf, useForm } from "../ui/forms/useForm.ts"
import { useRecordAsOpened } from "../ui/forms/useRecordAsOpened.ts"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { now } from "../ui/values/clock.ts"
import { refetchMaintenance } from "./queries.ts"

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const minuteMs = 60_000

/** Returns a whole minute, because windows begin and end at times that people choose. */
const inHours = (hours: number) =>
  dateTimeInputOf(new Date((Math.floor(now() / minuteMs) + hours * 60) * minuteMs).toISOString())

const valuesOf = (window: MaintenanceWindow | undefined) => ({
  name: window?.name ?? "",
  repeats: (window?.schedule ?? null) === null ? ("once" as const) : ("schedule" as const),
  starts_at: window?.starts_at == null ? inHours(1) : dateTimeInputOf(window.starts_at),
  ends_at: window?.ends_at == null ? inHours(2) : dateTimeInputOf(window.ends_at),
  schedule: window?.schedule ?? "0 2 * * sun",
  timezone: window?.timezone ?? localZone,
  duration_seconds: window?.duration_seconds ?? 3_600,
  everything: window?.everything ?? false,
  tags: window?.tags.join(", ") ?? "",
  monitor_ids: window?.monitor_ids ?? [],
  task_ids: window?.task_ids ?? []
})

type Values = Omit<ReturnType<typeof valuesOf>, "duration_seconds" | "repeats"> & {
  readonly repeats: "once" | "schedule"
  readonly duration_seconds: number | null
}

const definitionOf = ({ ends_at, repeats, starts_at, ...values }: Values) => ({
  name: values.name,
  ...(repeats === "once"
    ? {
        starts_at: new Date(starts_at).toISOString(),
        ends_at: new Date(ends_at).toISOString(),
        timezone: values.timezone
      }
    : {
        schedule: values.schedule,
        timezone: values.timezone,
        duration_seconds: values.duration_seconds
      }),
  everything: values.everything,
  ...(values.everything
    ? {}
    : {
        tags: parseTags(values.tags),
        monitor_ids: values.monitor_ids,
        task_ids: values.task_ids
      })
})

export const MaintenanceSheet = ({
  onClose,
  window: current
}: {
  /** Absent for a new window. */
  readonly window?: MaintenanceWindow
  readonly onClose: () => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const window = useRecordAsOpened(current)
  const form = useForm<Values>({
    initial: valuesOf(window),
    send: async (values) => {
      const definition: MaintenanceWindowDefinition = {
        ...definitionOf(values),
        ...(window !== undefined && { version: window.version })
      }
      await api.maintenance.upsert(window?.key ?? uniqueKeyFrom(values.name, "window"), definition)
      showSuccessToast(`${values.name} was ${window === undefined ? "created" : "changed"}`)
      await refetchMaintenance(workspaceId)
      onClose()
    }
  })
  const { errorOf, set, values } = form
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={window === undefined ? "New maintenance window" : `Edit ${window.name}`}
    >
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field label="Name" error={errorOf("name")}>
          <Input
            {...form.text("name")}
            {...bounds.MaintenanceWindowDefinition.name}
            required
            placeholder="Database upgrade"
          />
        </Field>
        <RadioButtons
          label="When"
          value={values.repeats}
          options={[
            ["once", "Once"],
            ["schedule", "On a schedule"]
          ]}
          onChange={(repeats) => set({ repeats })}
        />
        <Times form={form} />
        <Checkbox
          checked={values.everything}
          onChange={({ target }) => set({ everything: target.checked })}
        >
          All monitors and tasks of the workspace
        </Checkbox>
        {!values.everything && <Scope form={form} />}
        <FormFooter
          form={form}
          action={window === undefined ? "Create maintenance window" : "Save changes"}
          needs="editor"
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}

const Times = ({ form: { errorOf, set, text, values } }: { readonly form: FormOf<Values> }) =>
  values.repeats === "once" ? (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Starts" error={errorOf("starts_at")}>
        <Input type="datetime-local" step={1} required {...text("starts_at")} />
      </Field>
      <Field label="Ends" error={errorOf("ends_at")}>
        <Input type="datetime-local" step={1} required {...text("ends_at")} />
      </Field>
    </div>
  ) : (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Starts, as a cron expression"
          hint="0 2 * * sun means every Sunday at 02:00."
          error={errorOf("schedule")}
        >
          <Input mono required {...text("schedule")} />
        </Field>
        <Field label="Time zone" error={errorOf("timezone")}>
          <ZoneInput value={values.timezone} onChange={(timezone) => set({ timezone })} />
        </Field>
      </div>
      <DurationField
        label="Duration"
        value={values.duration_seconds}
        onChange={(duration_seconds) => set({ duration_seconds })}
        error={errorOf("duration_seconds")}
        limits={bounds.MaintenanceWindowDefinition.duration_seconds}
      />
    </>
  )

const Scope = ({ form: { errorOf, set, text, values } }: { readonly form: FormOf<Values> }) => {
  const targets = useRuleTargets(values)
  return (
    <>
      <TargetPicker
        label="Monitors"
        placeholder="Search by name"
        {...targets.monitors}
        chosen={values.monitor_ids}
        onChange={(monitor_ids) => set({ monitor_ids })}
      />
      <TargetPicker
        label="Tasks"
        placeholder="Search by name"
        {...targets.tasks}
        chosen={values.task_ids}
        onChange={(task_ids) => set({ task_ids })}
      />
      <Field
        label="Monitors and tasks with these tags"
        hint="Separate tags with commas."
        error={errorOf("tags") ?? errorOf("everything")}
      >
        <Input placeholder="database" {...text("tags")} />
      </Field>
    </>
  )
}
