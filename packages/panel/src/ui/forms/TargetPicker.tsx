import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { Plus, Search, X } from "lucide-react"
import { useId, useState } from "react"
import { Problem } from "../messages/Problem.tsx"
import { Spinner } from "../messages/Spinner.tsx"
import { FieldError } from "./Field.tsx"
import { useDebouncedText } from "../useDebouncedText.ts"

export interface Target<Id extends string> {
  readonly id: Id
  readonly name: string
  readonly kind: string
}

/**
 * Lets the user select tasks or monitors by name. The placeholder says what an empty selection
 * means.
 */
export const TargetPicker = <Id extends string>({
  chosen,
  error,
  find,
  findKey,
  label,
  nameOf,
  onChange,
  placeholder = "Search by name"
}: {
  readonly label: string
  readonly placeholder?: string
  readonly error?: string | undefined
  readonly chosen: ReadonlyArray<Id>
  readonly onChange: (chosen: ReadonlyArray<Id>) => void
  readonly nameOf: (id: Id) => string
  readonly findKey: ReadonlyArray<unknown>
  readonly find: (name: string, signal: AbortSignal) => Promise<ReadonlyArray<Target<Id>>>
}) => {
  const [text, setText] = useState("")
  const [found, setFound] = useState<ReadonlyMap<Id, string>>(new Map())
  const labelOf = (one: Id) => found.get(one) ?? nameOf(one)
  const asked = useDebouncedText(text.trim())
  const id = useId()
  const {
    data,
    error: problem,
    isFetching,
    refetch
  } = useQuery(
    queryOptions({
      queryKey: [...findKey, asked],
      enabled: asked !== "",
      placeholderData: keepPreviousData,
      queryFn: ({ signal }) => find(asked, signal)
    })
  )
  const offered = asked === "" ? [] : (data ?? []).filter((one) => !chosen.includes(one.id))
  return (
    <div role="group" aria-labelledby={id} className="flex flex-col gap-1.5">
      <span id={id} className="text-sm font-medium text-soft">
        {label}
      </span>
      {chosen.length > 0 && (
        <ul className="flex flex-wrap gap-1.5">
          {chosen.map((one) => (
            <li
              key={one}
              className="inline-flex max-w-full items-center gap-1 rounded-md bg-sunken py-0.5 pr-0.5 pl-2 text-sm"
            >
              <span className="truncate">{labelOf(one)}</span>
              <button
                type="button"
                aria-label={`Remove ${labelOf(one)}`}
                className="grid size-6 shrink-0 place-items-center rounded text-faint pointer-coarse:size-10 hover:text-ink"
                onClick={() => onChange(chosen.filter((other) => other !== one))}
              >
                <X className="size-3.5" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="overflow-clip rounded-lg border border-line bg-surface shadow-card focus-within:border-live">
        <label className="flex items-center gap-2 px-3">
          {isFetching ? (
            <Spinner className="text-faint" />
          ) : (
            <Search aria-hidden className="size-4 shrink-0 text-faint" />
          )}
          <span className="sr-only">{label}: search</span>
          <input
            type="search"
            value={text}
            autoComplete="off"
            placeholder={placeholder}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
            className="h-9 min-w-0 grow bg-transparent text-base outline-none pointer-coarse:h-10 pointer-coarse:text-lg"
          />
        </label>
        {offered.length > 0 && (
          <ul className="max-h-48 overflow-auto border-t border-line p-1">
            {offered.map((one) => (
              <li key={one.id}>
                <button
                  type="button"
                  className="flex w-full items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-sunken pointer-coarse:py-2.5"
                  onClick={() => {
                    setFound(new Map(found).set(one.id, one.name))
                    onChange([...chosen, one.id])
                    setText("")
                  }}
                >
                  <Plus aria-hidden className="size-4 shrink-0 text-faint" />
                  <span className="min-w-0 grow truncate">{one.name}</span>
                  <span className="text-xs text-faint">{one.kind}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
        {problem !== null && (
          <div className="border-t border-line p-2">
            <Problem error={problem} retry={refetch} />
          </div>
        )}
        {asked !== "" && !isFetching && problem === null && offered.length === 0 && (
          <p className="border-t border-line px-3 py-2 text-sm text-faint">No other results.</p>
        )}
      </div>
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}
