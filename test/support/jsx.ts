/** JSX as production React has it, for code that was compiled for a development server. */
export { Fragment, jsx as jsxDEV } from 'react/jsx-runtime';
