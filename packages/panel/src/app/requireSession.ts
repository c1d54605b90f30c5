import { redirect } from "@tanstack/react-router"
import { session } from "../data/session.ts"

/** Leads those who are not signed in to where they can, and afterwards back. */
export const requireSession = async ({ href }: { readonly href: string }): Promise<void> => {
  if (await session.isOpen()) return
  throw redirect({ to: "/sign-in", search: href === "/" ? {} : { next: href }, replace: true })
}
