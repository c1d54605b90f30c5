import type { QueueId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { Field, Select } from "../ui/forms/Field.tsx"
import { Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { limitInWords } from "./limitInWords.ts"
import { queueListOptions } from "./queries.ts"

/** In which queue runs wait for their turn, if in any. */
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
  const { error: problem, isLoading, refetch, rows } = useList(queueListOptions(workspaceId))
  if (problem !== null) return <Problem error={problem} retry={refetch} />
  return (
    <Field
      label="Queue"
      hint="Limits how many runs go on at once, together with all that share it."
      error={error}
      side={
        <Link
          to="/w/$workspaceId/queues"
          params={{ workspaceId }}
          className="text-sm text-faint hover:text-ink"
        >
          Queues
        </Link>
      }
    >
      {isLoading ? (
        <Skeleton className="h-9" />
      ) : (
        <Select
          value={value ?? ""}
          options={[
            ["", "None: each run starts when it is due"],
            ...rows.map((queue) => [queue.id, `${queue.name} (${limitInWords(queue)})`] as const)
          ]}
          onChange={({ target }) =>
            onChange(target.value === "" ? null : (target.value as QueueId))
          }
        />
      )}
    </Field>
  )
}
