import type { QueueId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { Field, Select } from "../ui/forms/Field.tsx"
import { Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { describeLimits } from "./describeLimits.ts"
import { queueQueries } from "./queries.ts"

export const QueueField = ({
  error,
  onChange,
  value
}: {
  readonly value: QueueId | null
  readonly error: string | undefined
  readonly onChange: (queueId: QueueId | null) => void
}) => {
  const { workspaceId } = useWorkspace()
  const { error: problem, isLoading, refetch, rows } = useList(queueQueries.list(workspaceId))
  if (problem !== null && rows.length === 0) return <Problem error={problem} retry={refetch} />
  return (
    <Field
      label="Queue"
      hint="Limits how many runs of its tasks are active at the same time."
      error={error}
      side={
        <Link
          to="/w/$workspaceId/queues"
          params={{ workspaceId }}
          className="text-sm text-faint hover:text-ink"
        >
          Show queues
        </Link>
      }
    >
      {isLoading ? (
        <Skeleton className="h-9" />
      ) : (
        <Select
          value={value ?? ""}
          required
          options={[
            ["", "Choose a queue"],
            ...rows.map((queue) => [queue.id, `${queue.name} (${describeLimits(queue)})`] as const)
          ]}
          onChange={({ target }) =>
            onChange(target.value === "" ? null : (target.value as QueueId))
          }
        />
      )}
    </Field>
  )
}
