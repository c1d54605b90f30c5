import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { CornerDownLeft, Search } from "lucide-react"
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react"
import { classes } from "../ui/classes.ts"
import { useDebouncedText } from "../ui/useDebouncedText.ts"
import { Dialog } from "../ui/actions/Dialog.tsx"
import { Spinner } from "../ui/messages/Spinner.tsx"
import { workspacesOptions } from "../data/queries.ts"
import {
  sortByRelevance,
  findPagesAndActions,
  hasWords,
  type PaletteItem,
  findWorkspaces,
  paletteItemOptions
} from "./find.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useHasRole } from "../ui/role.tsx"

/** The command palette. Finds pages, actions, workspaces and the workspace's records. */
const Palette = ({
  onClose,
  workspaceId
}: {
  readonly workspaceId: string | undefined
  readonly onClose: () => void
}) => {
  const navigate = useNavigate()
  const [text, setText] = useState("")
  // An item rather than a position, because the results arrive after the pages and actions.
  const [chosen, choose] = useState<string>()
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const asked = useDebouncedText(text.trim())
  const things = useQuery(paletteItemOptions(workspaceId, asked))
  const { data: workspaces = [] } = useQuery(workspacesOptions)
  // Until the search for the typed text has finished, only matches of the earlier search are shown.
  const isCurrent = asked === text.trim() && !things.isPlaceholderData
  const records = (things.data ?? []).filter(({ name }) => isCurrent || hasWords(name, text.trim()))
  const found: ReadonlyArray<PaletteItem> = sortByRelevance(text.trim(), [
    ...findPagesAndActions(workspaceId, text.trim(), useHasRole()),
    ...(asked === "" ? [] : records),
    ...findWorkspaces(workspaces, workspaceId, asked)
  ])
  const at = Math.max(
    0,
    found.findIndex(({ key }) => key === chosen)
  )
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" })
  }, [at])

  const go = (to: PaletteItem | undefined) => {
    if (to === undefined) return
    onClose()
    void navigate(to.link)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      choose(found[(at + step + found.length) % Math.max(found.length, 1)]?.key)
    } else if (event.key === "Enter") {
      event.preventDefault()
      go(found[at])
    }
  }

  return (
    <Dialog isOpen onClose={onClose} label="Search" place="top">
      <div className="flex items-center gap-3 border-b border-line px-4">
        {things.isFetching ? (
          <Spinner className="text-faint" />
        ) : (
          <Search aria-hidden className="size-4 text-faint" />
        )}
        <input
          role="combobox"
          aria-label="Search"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
          aria-autocomplete="list"
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="Search by name, key, tag, URL or id"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            choose(undefined)
          }}
          onKeyDown={onKeyDown}
          className="h-12 grow bg-transparent text-lg outline-none"
        />
      </div>
      <div
        ref={list}
        id={id}
        role="listbox"
        aria-label="Results"
        className="max-h-80 overflow-y-auto p-1.5"
      >
        {found.map((one, index) => (
          <div
            key={one.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => choose(one.key)}
            onClick={() => go(one)}
            className={classes(
              "flex h-9 cursor-pointer pointer-coarse:h-11 items-center gap-3 rounded-md px-2.5 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint",
              index === at && "bg-line/70"
            )}
          >
            {one.icon}
            <span className="truncate">{one.name}</span>
            <span className="ml-auto text-sm whitespace-nowrap text-faint">{one.kind}</span>
            {index === at && <CornerDownLeft aria-hidden />}
          </div>
        ))}
      </div>
      {things.error !== null && (
        <div className="p-3">
          <Problem error={things.error} retry={things.refetch} />
        </div>
      )}
      {found.length === 0 && isCurrent && !things.isFetching && things.error === null && (
        <p role="status" className="px-4 pb-6 text-center text-faint">
          No results for “{text}”.
        </p>
      )}
    </Dialog>
  )
}

export default Palette
