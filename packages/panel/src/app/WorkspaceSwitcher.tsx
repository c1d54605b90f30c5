import { Link } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { Check, ChevronsUpDown, Plus } from "lucide-react"
import { workspacesOptions } from "../data/queries.ts"
import { Logo } from "../ui/layout/Logo.tsx"
import { Menu, menuItemClass, MenuSeparator } from "../ui/actions/Menu.tsx"

export const WorkspaceSwitcher = ({
  workspaceId
}: {
  readonly workspaceId: string | undefined
}) => {
  const { data: workspaces = [] } = useQuery(workspacesOptions)
  const current = workspaces.find(({ id }) => id === workspaceId)
  return (
    <Menu
      align="start"
      label="Switch workspace"
      className="flex h-10 w-full shrink-0 items-center gap-2.5 rounded-lg px-2 text-left font-medium transition-colors duration-75 hover:bg-sunken"
      button={
        <>
          <Logo className="size-5 shrink-0" />
          <span className="grow truncate">{current?.name ?? "Scheduling"}</span>
          <ChevronsUpDown className="size-3.5 shrink-0 text-faint" />
        </>
      }
    >
      {workspaces.map(({ id, name }) => (
        <Link
          key={id}
          to="/w/$workspaceId"
          params={{ workspaceId: id }}
          role="menuitem"
          tabIndex={-1}
          className={menuItemClass}
        >
          <span className="max-w-56 grow truncate">{name}</span>
          {id === workspaceId && <Check className="size-4 shrink-0" />}
        </Link>
      ))}
      {workspaces.length > 0 && <MenuSeparator />}
      <Link to="/welcome" role="menuitem" tabIndex={-1} className={menuItemClass}>
        <Plus className="size-4 text-faint" />
        New workspace
      </Link>
    </Menu>
  )
}
