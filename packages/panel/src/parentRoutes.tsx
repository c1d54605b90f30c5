import { createRootRoute, createRoute, Outlet, type RouteComponent } from "@tanstack/react-router"
import { requireSession } from "./app/requireSession.ts"
import { requireWorkspace } from "./app/requireWorkspace.ts"
import { Shell } from "./app/Shell.tsx"

export const rootRoute = createRootRoute({ component: Outlet })

/** The parent route for pages that require a session. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "inside",
  beforeLoad: ({ location }) => requireSession(location),
  component: Shell
})

/** The parent route for a workspace's pages. */
export const workspaceRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/w/$workspaceId",
  beforeLoad: ({ params: { workspaceId } }) => requireWorkspace(workspaceId)
})

export const pageRoute = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => workspaceRoute, path, component })

export const searchPageRoute = <const Path extends string, Search extends object>(
  path: Path,
  validateSearch: (search: Readonly<Record<string, unknown>>) => Search,
  component: RouteComponent
) => createRoute({ getParentRoute: () => workspaceRoute, path, validateSearch, component })
