import { createLink } from "@tanstack/react-router"
import type { ComponentProps, ReactNode } from "react"
import { classes } from "./classes.ts"
import { Spinner } from "./Spinner.tsx"

interface Look {
  /** What the button is: the one thing to do on the page, or one of several. */
  readonly look?: "main" | "plain" | "quiet" | "danger"
  readonly size?: "small" | "normal"
  readonly icon?: ReactNode
}

const looks = {
  main: "bg-ink text-canvas border-ink hover:opacity-85 shadow-card",
  plain: "bg-surface border-line hover:border-edge hover:bg-sunken shadow-card",
  quiet: "border-transparent text-soft hover:text-ink hover:bg-sunken",
  danger: "bg-surface border-line text-bad hover:border-bad hover:tint-bad shadow-card"
}

const sizes = {
  small: "h-7 px-2.5 text-sm gap-1.5 rounded-md",
  normal: "h-9 px-3.5 text-base gap-2 rounded-lg"
}

const lookOf = ({ look = "plain", size = "normal" }: Look, className: string | undefined) =>
  classes(
    "relative inline-flex shrink-0 items-center justify-center border font-medium whitespace-nowrap select-none",
    "transition-[background,border-color,color,opacity] duration-100",
    "disabled:cursor-not-allowed disabled:opacity-50 aria-busy:cursor-progress",
    looks[look],
    sizes[size],
    className
  )

export const Button = ({
  busy = false,
  children,
  className,
  disabled,
  icon,
  look,
  size,
  type = "button",
  ...rest
}: Look & { readonly busy?: boolean } & ComponentProps<"button">) => (
  <button
    {...rest}
    type={type}
    disabled={disabled === true || busy}
    aria-busy={busy}
    className={lookOf({ ...(look && { look }), ...(size && { size }) }, className)}
  >
    {busy ? <Spinner /> : icon}
    {children}
  </button>
)

/** A link that looks like a button. */
export const ButtonLink = createLink(
  ({ children, className, icon, look, size, ...rest }: Look & ComponentProps<"a">) => (
    <a {...rest} className={lookOf({ ...(look && { look }), ...(size && { size }) }, className)}>
      {icon}
      {children}
    </a>
  )
)

/** A button with a picture only. Its name is for those who cannot see it, and on hover. */
export const IconButton = ({
  className,
  label,
  ...rest
}: { readonly label: string } & ComponentProps<"button">) => (
  <button
    type="button"
    title={label}
    aria-label={label}
    {...rest}
    className={classes(
      "inline-grid size-8 shrink-0 place-items-center rounded-md text-faint transition-colors duration-100 hover:bg-sunken hover:text-ink disabled:opacity-40",
      className
    )}
  />
)
