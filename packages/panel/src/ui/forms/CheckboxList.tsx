import { Checkbox } from "./Field.tsx"

/** Lets the user select records from a short list by name. */
export const CheckboxList = <Id extends string>({
  chosen,
  error,
  legend,
  names,
  onChange
}: {
  readonly legend: string
  readonly names: ReadonlyMap<Id, string>
  readonly chosen: ReadonlyArray<Id>
  readonly error: string | undefined
  readonly onChange: (chosen: ReadonlyArray<Id>) => void
}) => (
  <fieldset className="flex flex-col gap-2">
    <legend className="mb-2 text-sm font-medium">{legend}</legend>
    {[...names].map(([id, name]) => (
      <Checkbox
        key={id}
        checked={chosen.includes(id)}
        onChange={({ target }) =>
          onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
        }
      >
        {name}
      </Checkbox>
    ))}
    {names.size === 0 && <p className="text-sm text-faint">There are none.</p>}
    {error !== undefined && <p className="text-sm text-bad">{error}</p>}
  </fieldset>
)
