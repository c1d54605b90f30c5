export const Logo = ({ className }: { readonly className?: string }) => (
  <svg
    aria-hidden
    viewBox="0 0 32 32"
    fill="none"
    stroke="currentColor"
    strokeWidth="3"
    strokeLinecap="round"
    className={`text-ok ${className ?? ""}`}
  >
    <circle cx="16" cy="16" r="13" />
    <path d="M16 8v8l6 4" />
  </svg>
)
