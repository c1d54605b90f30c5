import type { Worker } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import type { FieldGroupProps } from "../ui/forms/inputProps.ts"
import { DurationField } from "../ui/forms/DurationField.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { parseLabels } from "./runOnValues.ts"
import { allWorkersOptions } from "./queries.ts"
import type { RunOnValues } from "./runOnValues.ts"
import * as bounds from "../data/bounds.ts"

/** Lets the user choose whether the service or a worker makes the call. */
export const RunsOnFields = ({ errorOf, onChange, values }: FieldGroupProps<RunOnValues>) => {
  const { workspaceId } = useWorkspace()
  const isOnWorkers = values.run_on !== null
  const workers = useQuery({ ...allWorkersOptions(workspaceId), enabled: isOnWorkers })
  return (
    <>
      <Field
        label="Runs on"
        hint={
          isOnWorkers
            ? "A worker can reach the addresses in its network that its agent allows."
            : "The service can reach public addresses and those that its operator allows."
        }
        error={isOnWorkers ? undefined : errorOf("run_on")}
        side={
          <Link
            to="/w/$workspaceId/workers"
            params={{ workspaceId }}
            className="text-sm text-faint hover:text-ink"
          >
            Show workers
          </Link>
        }
      >
        <Select
          value={isOnWorkers ? "workers" : "service"}
          options={[
            ["service", "The service"],
            ["workers", "Workers with labels"]
          ]}
          onChange={({ target }) => onChange({ run_on: target.value === "workers" ? "" : null })}
        />
      </Field>
      {values.run_on !== null && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field
            label="Worker labels"
            hint={<WorkersFound workers={workers.data} labels={parseLabels(values.run_on)} />}
            error={errorOf("run_on")}
          >
            <Input
              mono
              required
              spellCheck={false}
              autoComplete="off"
              placeholder="office"
              value={values.run_on}
              onChange={({ target }) => onChange({ run_on: target.value })}
            />
          </Field>
          <DurationField
            label="Wait for a worker"
            hint="If no worker claims the run within this time, it fails with no_worker."
            error={errorOf("worker_wait_seconds")}
            limits={bounds.CronTaskInput.worker_wait_seconds}
            value={values.worker_wait_seconds}
            onChange={(worker_wait_seconds) => onChange({ worker_wait_seconds })}
          />
        </div>
      )}
      <Problem error={workers.error} retry={workers.refetch} />
    </>
  )
}

/** Lists the workers that have all of the typed labels, so that a misspelt label is noticed. */
const WorkersFound = ({
  labels,
  workers
}: {
  readonly labels: ReadonlyArray<string>
  readonly workers: ReadonlyArray<Worker> | undefined
}) => {
  const needed = "Any online worker that has all of these labels."
  if (workers === undefined) return needed
  if (labels.length === 0) {
    const known = [...new Set(workers.flatMap((worker) => worker.labels))].toSorted()
    return known.length === 0
      ? "No worker has a label yet."
      : `${needed} Labels in use: ${listOf(known)}.`
  }
  const found = workers.filter((worker) => labels.every((label) => worker.labels.includes(label)))
  return found.length === 0 ? (
    <span className="text-warn">No worker has all of these labels yet.</span>
  ) : (
    `Workers with these labels: ${listOf(found.map(({ name }) => name))}.`
  )
}

const maxNamed = 5

const listOf = (names: ReadonlyArray<string>) =>
  names.length <= maxNamed
    ? names.join(", ")
    : `${names.slice(0, maxNamed).join(", ")} and ${names.length - maxNamed} more`
