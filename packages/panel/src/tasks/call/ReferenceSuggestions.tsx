import { type RefObject, useEffect, useEffectEvent, useId, useState } from "react"
import { useSecrets } from "../../secrets/SecretField.tsx"
import { classes } from "../../ui/classes.ts"

type Control = HTMLInputElement | HTMLTextAreaElement

/** Matches the part of a reference that was typed before the caret: `{{ steps.lo`. */
export const openReferencePattern = /\{\{\s*([\w.[\]"-]*)$/

const beforeCaret = ({ selectionEnd, value }: Control) =>
  value.slice(0, selectionEnd ?? value.length)

type Value = readonly [name: string, meaning: string]

/** Suggests values while the user types a reference such as `{{ steps.login` into a field. */
export const ReferenceSuggestions = ({
  control,
  onInsert,
  values
}: {
  readonly control: RefObject<Control | null>
  readonly values: ReadonlyArray<Value>
  readonly onInsert: (name: string) => void
}) => {
  const [query, setQuery] = useState<string>()
  useEffect(() => {
    const { current } = control
    if (current === null) return undefined
    const read = () => setQuery(openReferencePattern.exec(beforeCaret(current))?.[1])
    const close = () => setQuery(undefined)
    current.addEventListener("input", read)
    current.addEventListener("blur", close)
    return () => {
      current.removeEventListener("input", read)
      current.removeEventListener("blur", close)
    }
  }, [control])
  if (query === undefined) return null
  return (
    <Suggestions
      key={query}
      control={control}
      query={query}
      values={values}
      onClose={() => setQuery(undefined)}
      onInsert={(name) => {
        setQuery(undefined)
        onInsert(name)
      }}
    />
  )
}

const maxShown = 8

const Suggestions = ({
  control,
  onClose,
  onInsert,
  query,
  values
}: Parameters<typeof ReferenceSuggestions>[0] & {
  readonly query: string
  readonly onClose: () => void
}) => {
  const id = useId()
  const { data: secrets = [] } = useSecrets()
  const all: ReadonlyArray<Value> = [
    ...values,
    ...secrets.map(({ description, name }) => [`secrets.${name}`, description ?? "Secret"] as const)
  ]
  const shown = all
    .filter(([name]) => name !== query && name.toLowerCase().includes(query.toLowerCase()))
    .slice(0, maxShown)
  const [at, setAt] = useState(0)

  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const name = shown[at]?.[0]
    if (step !== undefined) setAt((at + step + shown.length) % shown.length)
    else if (event.key === "Escape") onClose()
    else if ((event.key === "Enter" || event.key === "Tab") && name !== undefined) onInsert(name)
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  const isOpen = shown.length > 0
  const option = `${id}-${at}`
  useEffect(() => {
    const { current } = control
    if (current === null || !isOpen) return undefined
    const listen = (event: Event) => onKey(event as KeyboardEvent)
    current.addEventListener("keydown", listen)
    current.setAttribute("aria-activedescendant", option)
    return () => {
      current.removeEventListener("keydown", listen)
      current.removeAttribute("aria-activedescendant")
    }
  }, [control, isOpen, option])

  if (!isOpen) return null
  return (
    <div
      ref={(element) => {
        if (element === null || control.current === null) return
        control.current.style.setProperty("anchor-name", anchorOf(id))
        element.showPopover()
      }}
      popover="manual"
      role="listbox"
      aria-label="Values"
      style={{
        positionAnchor: anchorOf(id),
        positionArea: "bottom span-right",
        positionTryFallbacks: "flip-block"
      }}
      className="m-0 my-1 max-w-[min(32rem,calc(100vw-2rem))] rounded-lg border border-line bg-raised p-1 text-ink shadow-float"
    >
      {shown.map(([name, meaning], index) => (
        <div
          key={name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          // Keep the focus in the field.
          onPointerDown={(event) => {
            event.preventDefault()
            onInsert(name)
          }}
          className={classes(
            "flex cursor-pointer justify-between gap-4 rounded-md px-2.5 py-1.5",
            index === at ? "bg-sunken" : "hover:bg-sunken/60"
          )}
        >
          <span className="font-mono text-sm">{name}</span>
          <span className="min-w-0 truncate text-sm text-faint">{meaning}</span>
        </div>
      ))}
    </div>
  )
}

const anchorOf = (id: string) => `--values-${id.replaceAll(/[^\w-]/g, "")}`
