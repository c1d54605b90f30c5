import type { WorkerId } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { Select } from "../ui/forms/Field.tsx"
import { Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { allWorkersOptions } from "./queries.ts"

export const WorkerSelect = ({
  onChange,
  value
}: {
  readonly value: WorkerId | ""
  readonly onChange: (workerId: WorkerId) => void
}) => {
  const { workspaceId } = useWorkspace()
  const { data, error, refetch } = useQuery(allWorkersOptions(workspaceId))
  if (error !== null && data === undefined) return <Problem error={error} retry={refetch} />
  if (data === undefined) return <Skeleton className="h-9" />
  if (data.length === 0) {
    return (
      <p className="text-soft">
        This workspace has no workers yet.{" "}
        <Link
          to="/w/$workspaceId/workers"
          params={{ workspaceId }}
          className="font-medium text-live underline-offset-2 hover:underline"
        >
          Create a worker first
        </Link>
        .
      </p>
    )
  }
  return (
    <Select
      required
      value={value}
      options={[
        ["", "Choose a worker"],
        ...data.map(
          ({ host, id, name }) => [id, host === null ? name : `${name} (${host})`] as const
        )
      ]}
      onChange={({ target }) => onChange(target.value as WorkerId)}
    />
  )
}
