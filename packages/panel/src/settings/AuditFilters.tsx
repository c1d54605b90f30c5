import { X } from "lucide-react"
import { Button } from "../ui/actions/Button.tsx"
import { Input, Select } from "../ui/forms/Field.tsx"
import { Filters } from "../ui/lists/Filters.tsx"
import { type AuditSearch, auditSearch, resources } from "./search.ts"

export type AuditChange = { readonly [Key in keyof AuditSearch]?: AuditSearch[Key] | undefined }

/** Narrows the audit log by what was changed, by whom, and when. */
export const AuditFilters = ({
  names,
  onNarrow,
  search
}: {
  readonly search: AuditSearch
  readonly names: ReadonlyMap<string, string>
  readonly onNarrow: (change: AuditChange) => void
}) => {
  const { actor_id, from, resource, target_id, to } = search
  const isKnown = actor_id === undefined || names.has(actor_id)
  return (
    <Filters>
      <Select
        aria-label="What was changed"
        value={resource ?? ""}
        options={[["", "Anything"], ...resources]}
        onChange={({ target }) =>
          onNarrow({ resource: auditSearch({ resource: target.value }).resource })
        }
      />
      <Select
        aria-label="Who changed it"
        value={actor_id ?? ""}
        options={[
          ["", "Anybody"],
          ...names,
          ...(isKnown ? [] : [[actor_id, "Somebody who has left"] as const])
        ]}
        onChange={({ target }) =>
          onNarrow({ actor_id: auditSearch({ actor_id: target.value }).actor_id })
        }
        className="max-w-56"
      />
      <span className="flex items-center gap-2 text-sm text-faint">
        <Input
          type="date"
          aria-label="From this day on"
          value={from ?? ""}
          max={to}
          onChange={({ target }) => onNarrow({ from: target.value || undefined })}
        />
        to
        <Input
          type="date"
          aria-label="Until this day"
          value={to ?? ""}
          min={from}
          onChange={({ target }) => onNarrow({ to: target.value || undefined })}
        />
      </span>
      {target_id !== undefined && (
        <Button
          icon={<X className="size-3.5" />}
          aria-label="Clear the resource filter"
          onClick={() => onNarrow({ target_id: undefined })}
        >
          <span className="max-w-48 truncate">Of {target_id}</span>
        </Button>
      )}
    </Filters>
  )
}
