import { createRootRoute, createRoute, Outlet, type RouteComponent } from "@tanstack/react-router"
import { requireSession } from "./app/requireSession.ts"
import { requireWorkspace } from "./app/requireWorkspace.ts"
import { Shell } from "./app/Shell.tsx"

export const root = createRootRoute({ component: Outlet })

/** The parent route of pages that require a session. */
export const signedInRoute = createRoute({
  getParentRoute: () => root,
  id: "inside",
  beforeLoad: ({ location }) => requireSession(location),
  component: Shell
})

/** The parent route of a workspace's pages. */
export const workspace = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/w/$workspaceId",
  beforeLoad: ({ params: { workspaceId } }) => requireWorkspace(workspaceId)
})

export const page = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => workspace, path, component })

export const searchPage = <const Path extends string, Search extends object>(
  path: Path,
  validateSearch: (search: Readonly<Record<string, unknown>>) => Search,
  component: RouteComponent
) => createRoute({ getParentRoute: () => workspace, path, validateSearch, component })
