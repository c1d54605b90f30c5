import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useId, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { findTasks } from "../data/tasks.ts"
import { Input, Select } from "../ui/forms/Field.tsx"
import { CountFilter } from "../ui/lists/CountFilter.tsx"
import { useFilterText } from "../ui/lists/useFilterText.ts"
import { Problem } from "../ui/messages/Problem.tsx"
import { useDebouncedText } from "../ui/useDebouncedText.ts"
import { now } from "../ui/values/clock.ts"
import { capitalize } from "../ui/values/format.ts"
import {
  executionSearch,
  type ExecutionSearch,
  executionStatuses,
  statusesOf,
  triggerNames
} from "./search.ts"

interface FilterProps {
  readonly search: ExecutionSearch
  readonly filter: (change: { readonly [Key in keyof ExecutionSearch]?: unknown }) => void
}

/** Filters by one or more statuses. */
export const StatusFilter = ({ filter, search }: FilterProps) => {
  const chosen = statusesOf(search)
  return (
    <CountFilter
      label="Status"
      counts={executionStatuses.map((status) => [status, capitalize(status)] as const)}
      chosen={chosen}
      onToggle={(status) =>
        filter({
          status: executionStatuses
            .filter((one) => (one === status) !== chosen.includes(one))
            .join(",")
        })
      }
    />
  )
}

const hourMs = 3_600_000

const periods = [
  ["1", "Last hour"],
  ["24", "Last 24 hours"],
  ["168", "Last 7 days"],
  ["720", "Last 30 days"]
] as const

/** Filters by period, trigger, response status and duration. */
export const MoreFilters = ({ filter, search }: FilterProps) => (
  <div className="contents max-sm:grid max-sm:w-full max-sm:grid-cols-2 max-sm:gap-2">
    <Select
      aria-label="Period"
      value={search.from === undefined && search.to === undefined ? "" : "chosen"}
      options={[
        ["", "Any time"],
        ...periods,
        ...(search.from === undefined && search.to === undefined
          ? []
          : [["chosen", "Chosen period"] as const])
      ]}
      onChange={({ target: { value } }) => {
        if (value === "chosen") return
        const from = new Date(now() - Number(value) * hourMs).toISOString()
        filter({ from: value === "" ? undefined : from, to: undefined })
      }}
    />
    <Select
      aria-label="Trigger"
      value={search.trigger ?? ""}
      options={[["", "All triggers"], ...Object.entries(triggerNames)]}
      onChange={({ target }) => filter({ trigger: target.value })}
    />
    <StatusCodeFilter search={search} filter={filter} />
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
    <TagFilter search={search} filter={filter} />
    {search.task_id === undefined && <TaskOrId filter={filter} />}
  </div>
)

const StatusCodeFilter = ({ filter, search }: FilterProps) => {
  const { apply, setText, text } = useFilterText(String(search.status_code ?? ""))
  return (
    <span className="w-28 max-sm:w-full">
      <Input
        aria-label="Status code"
        placeholder="Status code"
        inputMode="numeric"
        value={text}
        onChange={({ target: { value } }) => {
          setText(value)
          apply(String(executionSearch({ status_code: value }).status_code ?? ""))
          filter({ status_code: value })
        }}
      />
    </span>
  )
}

const TagFilter = ({ filter, search }: FilterProps) => {
  const { apply, setText, text } = useFilterText(search.tag ?? "")
  const submit = () => {
    apply(text.trim())
    filter({ tag: text.trim() })
  }
  return (
    <span className="w-28 max-sm:w-full">
      <Input
        aria-label="Tag"
        placeholder="Tag"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={submit}
        onKeyDown={({ key }) => key === "Enter" && submit()}
      />
    </span>
  )
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Filters by a task's name, or opens the execution with the given id. */
const TaskOrId = ({ filter }: Pick<FilterProps, "filter">) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const list = useId()
  const [text, setText] = useState("")
  const name = useDebouncedText(text.trim())
  const {
    data: tasks = [],
    error,
    refetch
  } = useQuery({
    queryKey: ["w", workspaceId, "names", "found", name],
    enabled: name !== "" && !uuid.test(name),
    queryFn: ({ signal }) => findTasks(workspaceId, name, signal)
  })
  const choose = (typed: string) => {
    setText(typed)
    const found = tasks.find((task) => task.name === typed)
    if (found !== undefined) filter({ task_id: found.id })
    else if (uuid.test(typed.trim())) {
      void navigate({
        to: "/w/$workspaceId/executions/$executionId",
        params: { workspaceId, executionId: typed.trim() }
      })
    }
  }
  return (
    <>
      <span className="w-56 max-sm:w-full">
        <Input
          aria-label="Task or execution id"
          placeholder="Task or execution id"
          list={list}
          value={text}
          onChange={({ target }) => choose(target.value)}
          onKeyDown={({ key }) => {
            // The tasks may be those of an earlier text.
            if (key !== "Enter" || name !== text.trim()) return
            if (tasks[0] !== undefined) filter({ task_id: tasks[0].id })
          }}
        />
      </span>
      <datalist id={list}>
        {tasks.map(({ id, kind, name: task }) => (
          <option key={id} value={task} label={kind} />
        ))}
      </datalist>
      {error !== null && (
        <div className="basis-full max-sm:col-span-2">
          <Problem error={error} retry={refetch} />
        </div>
      )}
    </>
  )
}
