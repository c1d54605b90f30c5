import { Link, useNavigate } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { BookOpen, Check, LogOut, Search, UserRound } from "lucide-react"
import { useOpenIncidentCount } from "../data/incidents.ts"
import { meOptions } from "../data/queries.ts"
import { useSignOut } from "../sign-in/useSignOut.ts"
import { classes } from "../ui/classes.ts"
import { Menu, MenuItem } from "../ui/actions/Menu.tsx"
import { useIsWide } from "../ui/layout/screenWidth.ts"
import { rowDensity } from "../ui/lists/density.ts"
import { Badge } from "../ui/values/Status.tsx"
import { navigation } from "./navigation.tsx"
import { WorkspaceSwitcher } from "./WorkspaceSwitcher.tsx"
import { useHasRole } from "../ui/role.tsx"

const item =
  "flex h-8 items-center gap-2.5 rounded-md px-2.5 text-soft pointer-coarse:h-10 transition-colors duration-75 hover:bg-sunken hover:text-ink [&_svg]:size-4 [&_svg]:text-faint"

export const Sidebar = ({
  onLeave,
  onSearch,
  workspaceId
}: {
  readonly workspaceId: string | undefined
  readonly onSearch: () => void
  /** Called when the user follows a link or opens the search, so that the menu can close. */
  readonly onLeave: () => void
}) => {
  const may = useHasRole()
  return (
    <div className="flex h-full flex-col gap-3 p-3">
      <WorkspaceSwitcher workspaceId={workspaceId} />
      <button
        type="button"
        onClick={() => {
          onLeave()
          onSearch()
        }}
        className={`${item} shrink-0 border border-line bg-surface shadow-card`}
      >
        <Search />
        <span className="grow text-left">Search</span>
        <kbd className="font-mono text-xs text-faint pointer-coarse:hidden">
          {isMac ? "⌘K" : "Ctrl K"}
        </kbd>
      </button>
      {workspaceId !== undefined && (
        <nav
          aria-label="Workspace"
          className="-mx-3 flex min-h-0 grow flex-col gap-4 overflow-y-auto px-3"
        >
          {navigation.map(([group, entries]) => (
            <div key={group ?? ""} className="flex flex-col gap-px">
              {group !== undefined && (
                <p className="mb-1 px-2.5 text-xs font-medium text-faint">{group}</p>
              )}
              {entries
                .filter(({ needs }) => may(needs))
                .map(({ icon, name, to }) => (
                  <Link
                    key={name}
                    to={to}
                    params={{ workspaceId }}
                    onClick={onLeave}
                    activeOptions={{ exact: to === "/w/$workspaceId" }}
                    className={classes(
                      item,
                      "data-[status=active]:bg-sunken data-[status=active]:font-medium data-[status=active]:text-ink data-[status=active]:[&_svg]:text-ink"
                    )}
                  >
                    {icon}
                    {name}
                    {to === "/w/$workspaceId/incidents" && (
                      <OpenIncidents workspaceId={workspaceId} />
                    )}
                  </Link>
                ))}
            </div>
          ))}
        </nav>
      )}
      <footer className="mt-auto flex flex-col gap-px">
        <a href="/docs" className={item}>
          <BookOpen />
          API reference
        </a>
        <AccountMenu />
      </footer>
    </div>
  )
}

const OpenIncidents = ({ workspaceId }: { readonly workspaceId: string }) => {
  const open = useOpenIncidentCount(workspaceId)
  return (
    open !== undefined && (
      <span className="ml-auto">
        <Badge tone="bad">
          {open}
          <span className="sr-only"> open</span>
        </Badge>
      </span>
    )
  )
}

const AccountMenu = () => {
  const { data: me } = useQuery(meOptions)
  const navigate = useNavigate()
  const signOut = useSignOut()
  const density = rowDensity.use()
  const name = me?.name ?? me?.email ?? " "
  return (
    <Menu
      align="start"
      // There is never room below. Chromium forgets that it has moved the menu to the other side when
      // the page's content replaces its placeholder.
      side="top"
      label="Your account"
      className={`${item} w-full text-left`}
      button={
        <>
          <span
            aria-hidden
            className="-ml-0.5 grid size-5 shrink-0 place-items-center rounded-full bg-ink text-[0.625rem] font-semibold text-canvas uppercase"
          >
            {name.charAt(0)}
          </span>
          <span className="truncate">{name}</span>
        </>
      }
    >
      <p className="max-w-56 truncate px-2.5 py-1.5 text-sm text-faint">{me?.email}</p>
      <MenuItem icon={<UserRound />} onSelect={() => void navigate({ to: "/account/settings" })}>
        Your account
      </MenuItem>
      {/* All rows are high on narrow screens. */}
      {useIsWide() && (
        <MenuItem
          isChecked={density === "comfortable"}
          icon={density === "comfortable" && <Check />}
          onSelect={() => rowDensity.set(density === "compact" ? "comfortable" : "compact")}
        >
          High rows in lists
        </MenuItem>
      )}
      <MenuItem icon={<LogOut />} onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)
