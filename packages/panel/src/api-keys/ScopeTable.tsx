import type { Scope } from "@scheduling/sdk"
import { Button } from "../ui/actions/Button.tsx"
import { FieldError } from "../ui/forms/Field.tsx"
import { scopeAreas, scopePresets } from "./scopes.ts"

export const ScopeTable = ({
  error,
  onChange,
  scopes
}: {
  readonly scopes: ReadonlyArray<Scope>
  readonly onChange: (scopes: ReadonlyArray<Scope>) => void
  readonly error: string | undefined
}) => {
  const box = (scope: Scope | undefined, label: string) =>
    scope !== undefined && (
      <label className="grid h-11 cursor-pointer place-items-center">
        <span className="sr-only">{label}</span>
        <input
          type="checkbox"
          checked={scopes.includes(scope)}
          onChange={({ target }) =>
            onChange(
              target.checked ? [...scopes, scope] : scopes.filter((other) => other !== scope)
            )
          }
          className="size-4 accent-ink"
        />
      </label>
    )
  return (
    <div className="flex flex-col gap-3" data-invalid={error === undefined ? undefined : "Scopes"}>
      <div className="flex flex-wrap gap-1.5">
        {scopePresets.map(([name, preset]) => (
          <Button key={name} size="small" onClick={() => onChange(preset)}>
            {name}
          </Button>
        ))}
      </div>
      <div className="overflow-hidden rounded-lg border border-line">
        <table className="w-full">
          <thead>
            <tr className="border-b border-line text-xs text-faint [&_th]:h-8 [&_th]:font-medium">
              <th className="px-3.5 text-left">Resource</th>
              <th className="w-16 sm:w-20">Read</th>
              <th className="w-16 sm:w-20">Write</th>
            </tr>
          </thead>
          <tbody>
            {scopeAreas.map(({ hint, name, read, write }) => (
              <tr key={name} className="border-b border-line last:border-b-0">
                <th scope="row" className="px-3.5 py-2 text-left font-medium">
                  {name}
                  <span className="block text-xs font-normal text-faint">{hint}</span>
                </th>
                <td>{box(read, `Read ${name.toLowerCase()}`)}</td>
                <td>{box(write, `Write ${name.toLowerCase()}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <FieldError error={error} />
    </div>
  )
}
