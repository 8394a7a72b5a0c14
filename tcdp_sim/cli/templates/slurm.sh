{% extends "job.sh" %}
{% set prefix, index = "#SBATCH", "$SLURM_ARRAY_TASK_ID" %}
{% macro directives(need) %}
#SBATCH --job-name=tcdp-sim
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time={{ need.clock }}
#SBATCH --mem={{ need.megabytes }}M
{%- endmacro %}
{% block submit %}
id=$(sbatch --parsable --array="$parts" --output="$jobs/part-%a.log" "$jobs/part.sh")
sbatch --dependency="afterany:${id%%;*}" --output="$jobs/finish.log" "$jobs/finish.sh"
{% endblock %}
