import { X } from "lucide-react"
import { Button } from "../ui/actions/Button.tsx"
import { Input, Select } from "../ui/forms/Field.tsx"
import { Filters } from "../ui/lists/Filters.tsx"
import { type AuditSearch, auditSubjectKinds } from "./search.ts"

export const AuditFilters = ({
  names,
  onFilter,
  search
}: {
  readonly search: AuditSearch
  readonly names: ReadonlyMap<string, string>
  readonly onFilter: (change: { readonly [Key in keyof AuditSearch]?: unknown }) => void
}) => {
  const { actor_id, from, subject_id, subject_kind, to } = search
  const isKnown = actor_id === undefined || names.has(actor_id)
  return (
    <Filters>
      <Select
        aria-label="Kind of record"
        value={subject_kind ?? ""}
        options={[["", "All records"], ...auditSubjectKinds]}
        onChange={({ target }) => onFilter({ subject_kind: target.value })}
      />
      <Select
        aria-label="Actor"
        value={actor_id ?? ""}
        options={[
          ["", "All actors"],
          ...names,
          ...(isKnown ? [] : [[actor_id, "Another actor"] as const])
        ]}
        onChange={({ target }) => onFilter({ actor_id: target.value })}
        className="max-w-56"
      />
      <span className="flex items-center gap-2 text-sm text-faint max-sm:w-full [&_input]:min-w-0">
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
      {subject_id !== undefined && (
        <Button
          icon={<X />}
          aria-label="Show all records"
          onClick={() => onFilter({ subject_id: undefined })}
        >
          <span className="max-w-48 truncate">Record {subject_id}</span>
        </Button>
      )}
    </Filters>
  )
}
