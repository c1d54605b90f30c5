import { Bookmark, X } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button, IconButton, buttonClasses } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Menu, MenuItem, MenuSeparator } from "../ui/actions/Menu.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { createStored } from "../ui/stored.ts"
import type { ExecutionSearch } from "./search.ts"

interface View {
  readonly name: string
  readonly search: ExecutionSearch
}

/** Each workspace's saved views, stored in this browser. */
const saved = createStored<Readonly<Record<string, ReadonlyArray<View>>>>("execution-views", {})

/** Saves the list's filters under a name, and applies saved filters. */
export const SavedViews = ({
  apply,
  search
}: {
  readonly search: ExecutionSearch
  readonly apply: (search: ExecutionSearch) => void
}) => {
  const { workspaceId } = useWorkspace()
  const all = saved.use()
  const views = all[workspaceId] ?? []
  const [isNaming, setNaming] = useState(false)
  const [name, setName] = useState("")
  const keep = (next: ReadonlyArray<View>) => saved.set({ ...all, [workspaceId]: next })
  return (
    <>
      <Menu
        label="Saved views"
        className={buttonClasses({}, undefined)}
        button={
          <span aria-hidden className="flex items-center gap-2">
            <Bookmark />
            Views
          </span>
        }
      >
        {views.map((view) => (
          <MenuItem key={view.name} onSelect={() => apply(view.search)}>
            <bdi className="max-w-64 truncate">{view.name}</bdi>
          </MenuItem>
        ))}
        {views.length > 0 && <MenuSeparator />}
        <MenuItem onSelect={() => setNaming(true)}>Save or remove views…</MenuItem>
      </Menu>
      <Sheet isOpen={isNaming} onClose={() => setNaming(false)} title="Saved views">
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            const named = { name: name.trim(), search }
            keep([...views.filter((view) => view.name !== named.name), named])
            setNaming(false)
            setName("")
          }}
        >
          <Field label="Name" hint="Saves the current filters in this browser.">
            <Input
              required
              maxLength={60}
              pattern=".*\S.*"
              placeholder="Failed reports"
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </Field>
          <div>
            <Button type="submit" look="main">
              Save view
            </Button>
          </div>
        </form>
        {views.length > 0 && (
          <ul className="mt-5 divide-y divide-line border-t border-line">
            {views.map((view) => (
              <li key={view.name} className="flex items-center justify-between gap-3 py-1.5">
                <bdi className="min-w-0 truncate">{view.name}</bdi>
                <IconButton
                  label={`Remove ${view.name}`}
                  onClick={() => keep(views.filter((other) => other !== view))}
                >
                  <X className="size-4" />
                </IconButton>
              </li>
            ))}
          </ul>
        )}
      </Sheet>
    </>
  )
}
