import { X } from "lucide-react"
import { Button } from "../ui/actions/Button.tsx"
import { Input, Select } from "../ui/forms/Field.tsx"
import { Filters } from "../ui/lists/Filters.tsx"
import { type AuditSearch, resources } from "./search.ts"

export const AuditFilters = ({
  names,
  onFilter,
  search
}: {
  readonly search: AuditSearch
  readonly names: ReadonlyMap<string, string>
  readonly onFilter: (change: { readonly [Key in keyof AuditSearch]?: unknown }) => void
}) => {
  const { actor_id, from, resource, target_id, to } = search
  const isKnown = actor_id === undefined || names.has(actor_id)
  return (
    <Filters>
      <Select
        aria-label="Resource"
        value={resource ?? ""}
        options={[["", "All resources"], ...resources]}
        onChange={({ target }) => onFilter({ resource: target.value })}
      />
      <Select
        aria-label="Actor"
        value={actor_id ?? ""}
        options={[
          ["", "Everybody"],
          ...names,
          ...(isKnown ? [] : [[actor_id, "A former member"] as const])
        ]}
        onChange={({ target }) => onFilter({ actor_id: target.value })}
        className="max-w-56"
      />
      <span className="flex items-center gap-2 text-sm text-faint">
        <Input
          type="date"
          aria-label="First day"
          value={from ?? ""}
          max={to}
          onChange={({ target }) => onFilter({ from: target.value })}
        />
        to
        <Input
          type="date"
          aria-label="Last day"
          value={to ?? ""}
          min={from}
          onChange={({ target }) => onFilter({ to: target.value })}
        />
      </span>
      {target_id !== undefined && (
        <Button
          icon={<X />}
          aria-label="Clear the resource filter"
          onClick={() => onFilter({ target_id: undefined })}
        >
          <span className="max-w-48 truncate">Resource {target_id}</span>
        </Button>
      )}
    </Filters>
  )
}
