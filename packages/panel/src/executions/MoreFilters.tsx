import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { Input, Select } from "../ui/forms/Field.tsx"
import { capital, count } from "../ui/values/format.ts"
import { executionQueries } from "./queries.ts"
import { type ExecutionSearch, triggers } from "./search.ts"

/** Filters by trigger, response status and duration. */
export const MoreFilters = ({
  filter,
  search
}: {
  readonly search: ExecutionSearch
  readonly filter: (change: Readonly<Record<string, string>>) => void
}) => (
  <>
    <Select
      aria-label="Trigger"
      value={search.trigger ?? ""}
      options={[
        ["", "All triggers"],
        ...triggers.map((trigger) => [trigger, capital(trigger)] as const)
      ]}
      onChange={({ target }) => filter({ trigger: target.value })}
    />
    <Input
      aria-label="Status code"
      placeholder="Status code"
      inputMode="numeric"
      className="w-32"
      defaultValue={search.status_code ?? ""}
      onChange={({ target }) => filter({ status_code: target.value })}
    />
    <Select
      aria-label="Duration"
      value={String(search.min_duration_ms ?? "")}
      options={[
        ["", "Any duration"],
        ["1000", "1 s or longer"],
        ["10000", "10 s or longer"],
        ["60000", "1 min or longer"]
      ]}
      onChange={({ target }) => filter({ min_duration_ms: target.value })}
    />
  </>
)

/** Shows the total number of executions on all pages. */
export const ExecutionTotal = ({ search }: { readonly search: ExecutionSearch }) => {
  const { workspaceId } = useWorkspace()
  const { data: total } = useQuery(executionQueries.total(workspaceId, search))
  if (total == null) return null
  return (
    <span role="status" className="text-sm text-faint">
      {total > 10_000 ? "More than 10,000" : count(total)}{" "}
      {total === 1 ? "execution" : "executions"}
    </span>
  )
}
